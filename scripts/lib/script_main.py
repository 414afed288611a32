"""The Python parts of scripts share this: how they read a time, and how they end, with a status,
and a line on stderr if they have failed.
"""

import argparse
import re
import sys

from harness.node import ClusterError

_UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds(text):
    """For argparse: a time with its unit, as a whole number of seconds from 1 on."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})([smh])", text)
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is no time; expected one such as 90s, 10m, 8h")
    return int(found[1]) * _UNITS[found[2]]


def run_main(main, script, errors=(ClusterError,)):
    """Runs main(), whose status it is; `script` names it in a line about one of `errors`."""
    try:
        sys.exit(main())
    except errors as problem:
        sys.exit(f"{script}: {problem}")
    except KeyboardInterrupt:
        sys.exit(130)
