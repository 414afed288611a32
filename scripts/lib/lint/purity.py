#!/usr/bin/env python3
"""Shows that an archive of protocol/ asks the outside for nothing but memory and the language:
no clock, no entropy, no socket, no file, no thread. It reads the undefined symbols of the archive.

What is C must be on the list below; what is C++ must not be one of the standard library's doors to
the outside.

Usage: purity.py ARCHIVE           exit 1 and one line for each symbol that is refused
"""

import re
import subprocess
import sys

# The C functions and the compiler's own symbols that a pure function may need.
C_ALLOWED = re.compile(
    r"""(mem(cpy|move|set|cmp|chr)|strlen|strcmp|strncmp|bcmp|abort|(__)?assert_fail|__assert_fail
    |__(memcpy|memmove|memset)_chk|__stack_chk_fail|__gxx_personality_v\d|_Unwind_Resume|__dso_handle
    |__cxa_(begin_catch|end_catch|rethrow|throw|allocate_exception|free_exception|bad_\w+
           |throw_bad_array_new_length|call_unexpected|call_terminate|pure_virtual)
    |__libc_single_threaded # how std::shared_ptr counts: what never changes is shared by copies
    |_GLOBAL_OFFSET_TABLE_|__tls_get_addr|__popcountdi2|__ubsan\w*|ldexp|pow|log|sqrt|ceil
    |floor|remainder|sin|cos|sincos)""",
    re.VERBOSE,
)

CPP_REFUSED = re.compile(
    r"""::_V2::|chrono::\w*clock|\b(asio|spdlog|fmt)::
    |\bstd::(__\w+::)*(random_device|_Random|this_thread|thread|jthread|mutex|recursive_mutex
        |shared_mutex|timed_mutex|condition_variable|future|promise|call_once|__future_base|stop_token
        |latch|barrier|counting_semaphore|locale|ios_base|filesystem|c(in|out|err|log)\b
        |basic_([io]?f|[io]?string|[io]|io)stream|basic_filebuf)""",
    re.VERBOSE,
)


def refused(symbols):
    """Those of the undefined, demangled symbols that a pure archive may not have."""
    for symbol in symbols:
        cpp = "::" in symbol or "(" in symbol or " " in symbol
        if cpp:
            own = symbol.startswith("bullring::protocol::")
            if not own and CPP_REFUSED.search(symbol):
                yield symbol
        elif not C_ALLOWED.fullmatch(symbol.split("@")[0]):
            yield symbol


def undefined_symbols(archive):
    """The needs of the archive as a whole: undefined in some object and defined in none."""

    def names(*flags):
        out = subprocess.run(
            ["nm", "-C", *flags, archive],
            check=True,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ).stdout
        found = set()
        for line in out.splitlines():
            match = re.match(r"^(?:[0-9a-fA-F]+)?\s+([A-Za-z]) (.+)$", line)
            if match:
                found.add(match.group(2))
        return found

    return sorted(names("-u") - names("--defined-only"))


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    symbols = undefined_symbols(sys.argv[1])
    found = list(refused(symbols))
    for symbol in found:
        print(f"{sys.argv[1]}: the protocol must not need: {symbol}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
