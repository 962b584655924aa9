"""The version of the package, where everything inside it may read it."""

VERSION = "0.1.0"
