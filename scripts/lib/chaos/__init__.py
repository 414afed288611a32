"""Real nodes under faults that a seed draws: `scripts/chaos --help`. A module has one subject."""
