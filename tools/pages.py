"""Run the examples of pages: ``python tools/pages.py docs/data.md``; with ``--write``, put what they print into them."""

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
