"""How the documentation site is made: pages run, pictures drawn, the reference written from docstrings."""
