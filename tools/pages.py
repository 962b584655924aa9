"""Run the examples of pages, and tell which pages do not say what is printed.

python tools/pages.py docs/data.md README.md            exit 1 if a page is not up to date
python tools/pages.py --write docs/data.md README.md    put into them what is printed
"""

from __future__ import annotations

import sys
from pathlib import Path

from docs import running


def main(arguments: list[str]) -> int:
    stale = 0
    for page in [Path(name) for name in arguments if name != "--write"]:
        old = page.read_text()
        new = running.rewritten(old)
        if new != old:
            stale += 1
            print(f"{page} {'was' if '--write' in arguments else 'is'} not up to date")
            if "--write" in arguments:
                page.write_text(new)
    return int(stale > 0 and "--write" not in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
