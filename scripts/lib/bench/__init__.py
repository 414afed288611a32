"""The measurements of scripts/bench: `scripts/bench --help`. A module has one subject."""
