"""Shows that no room needs a symbol of a room that it may not include: a declaration can stand in a
room below the one that defines it, which no include tells. It reads the archives of a build.

Usage: linked_symbols.py BUILD     exit 1 and one line for each symbol
"""

import pathlib
import re
import subprocess

from lint.include_rules import TARGET_OF, open_to, room_table

SYMBOL = re.compile(r"^[0-9a-fA-F]*\s+([A-Za-z]) (.+)$", re.MULTILINE)


def symbols(archive):
    """The symbols that the archive defines for others, and those that it needs of others."""
    out = subprocess.run(
        ["nm", "-C", "--extern-only", archive], check=True, text=True, stdout=subprocess.PIPE
    ).stdout
    defined, needed = set(), set()
    for kind, symbol in SYMBOL.findall(out):
        (needed if kind in "Uvw" else defined).add(symbol)
    return defined, needed - defined


def open_targets(root):
    """By each target those whose symbols it may need, by the table of src/README.md."""
    table = room_table(root)
    found = {"protocol": {"protocol"}, "simulation": {"protocol", "simulation"}}
    for room in table:
        rooms = {TARGET_OF.get(one, one) for one in open_to(room, table)}
        found.setdefault(TARGET_OF.get(room, room), {"protocol"}).update(rooms)
    return found


def breaches(archives, allowed):
    """`archives`: by target. A symbol that none of them defines is a library's. One of a room
    that is no more was left over in the build."""
    read = {target: symbols(archives[target]) for target in archives.keys() & allowed.keys()}
    for target, (_, needed) in sorted(read.items()):
        for symbol in sorted(needed):
            owners = {other for other, (defined, _) in read.items() if symbol in defined}
            if owners and not owners & allowed[target]:
                yield f"{target} needs a symbol of {' and '.join(sorted(owners))}: {symbol}"


def archives_of(build):
    return {
        file.stem.removeprefix("libbullring_"): file
        for folder in ("protocol", "sim", "src")
        for file in (pathlib.Path(build) / folder).rglob("libbullring_*.a")
    }
