"""The systems that `scripts/bench peers` measures side by side."""
