"""The rules of the tree that scripts/check holds: `scripts/check --help`."""
