"""How scripts/test runs tests and what it makes of their failures: sound, broken, or not to be told
on this machine. CONTRIBUTING.md has the rules in a table.
"""
