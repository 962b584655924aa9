"""Print what pyproject.toml requires to build, to run, or for one of its extras: ``python .ci/required.py run``."""

import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    declared = tomllib.load(file)
requirements = {
    "build": declared["build-system"]["requires"],
    "run": declared["project"]["dependencies"],
    **declared["project"]["optional-dependencies"],
}
# The shell divides what it gets at spaces: a requirement with a condition has some.
print(*(each.replace(" ", "") for each in requirements[sys.argv[1]]))
