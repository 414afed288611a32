"""The steps of scripts/demo: `scripts/demo --help`."""
