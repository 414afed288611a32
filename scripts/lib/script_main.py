"""How the Python part of a script ends: with a status, and a line on stderr if it has failed."""

import sys

from bullring_node import ClusterError


def run_main(main, script, errors=(ClusterError,)):
    """Runs main(), whose status it is; `script` names it in a line about one of `errors`."""
    try:
        sys.exit(main())
    except errors as problem:
        sys.exit(f"{script}: {problem}")
    except KeyboardInterrupt:
        sys.exit(130)
