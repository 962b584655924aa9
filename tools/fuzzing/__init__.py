"""What `tools/fuzz.py` feeds to the readers of this package, and how it judges what they do."""
