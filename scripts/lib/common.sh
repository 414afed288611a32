# Shared by the scripts; sourced, never run. Owns: where the project stands, how a part of a script
# is announced and timed, and the two steps that most scripts begin with.
#
#   ensure_setup [set…]   install the packages of the named sets (see scripts/setup), if any is missing
#   ensure_built          the release program at build/bullring, up to date
#   part NAME cmd…        run cmd, print how long it took; a failing part ends the script
#   parts_summary         the parts so far with their times; those over their `budget` are named
#   commit_part M         K/M, where K (1…M) changes from commit to commit
#   say, die, have        a line; a line on stderr and exit 1; whether a program is installed
# shellcheck shell=bash

set -euo pipefail

BULLRING_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
BULLRING_JOBS="${BULLRING_JOBS:-$(nproc)}"
BULLRING_PROGRAM="$BULLRING_ROOT/build/bullring"
export BULLRING_ROOT BULLRING_PROGRAM
# Where Python finds the packages of the scripts (bench, chaos, gate …), `harness` and `bullring`.
export PYTHONPATH="$BULLRING_ROOT/scripts/lib:$BULLRING_ROOT/tests:$BULLRING_ROOT/src/python"

# Objects compiled in one checkout are good in another.
export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$BULLRING_ROOT}" CCACHE_NOHASHDIR="${CCACHE_NOHASHDIR:-1}"

say() { printf '%s\n' "$*"; }
die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# show_help FILE: the comment at the head of a script is its help.
show_help() { sed -n '2,/^[^#]/{/^#/!q;s/^# \{0,1\}//;p}' "$1"; }

_part_lines=()
declare -A budget=()
_seconds_since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'; }

part() {
    local name="$1" start="$EPOCHREALTIME" status=0 took
    shift
    say ""
    say "=== $name"
    # In a background-free subshell with errexit on: `if cmd` would switch errexit off inside it.
    set +e
    (
        set -e
        "$@"
    )
    status=$?
    set -e
    took="$(_seconds_since "$start")"
    if ((status != 0)); then
        say "=== $name FAILED after $took s (exit $status)"
        _part_lines+=("$(printf '%9s s  %s: FAILED' "$took" "$name")")
        exit "$status"
    fi
    say "=== $name: $took s"
    _part_lines+=("$(printf '%9s s  %s%s' "$took" "$name" "$(_over_budget "$name" "$took")")")
}

# _over_budget NAME SECONDS: says so, if a script has given this part a budget (`declare -A budget`)
# and it took half as long again.
_over_budget() {
    local seconds="${budget["$1"]:-}"
    [[ -n "$seconds" ]] || return 0
    awk -v took="$2" -v budget="$seconds" \
        'BEGIN { if (took > 1.5 * budget) printf ": more than its budget of %d s", budget }'
}

parts_summary() {
    say ""
    say "Parts:"
    printf '%s\n' "${_part_lines[@]}"
    awk -v s="$SECONDS" 'BEGIN { printf "%9.1f s  together\n", s }'
}

commit_part() {
    local head
    head="$(git -C "$BULLRING_ROOT" rev-parse HEAD 2>/dev/null || say 0)"
    say "$((16#${head:0:8} % $1 + 1))/$1"
}

ensure_setup() { "$BULLRING_ROOT/scripts/setup" --quiet "$@"; }
ensure_built() { "$BULLRING_ROOT/scripts/build" --program --quiet; }

# configure PRESET [cmake flags…]: Ninja where it is installed, unless the directory has a generator.
configure() {
    local preset="$1" generator=()
    shift
    local dir
    dir="$(build_dir "$preset")"
    if [[ ! -f "$dir/CMakeCache.txt" && -z "${CMAKE_GENERATOR:-}" ]] && have ninja; then
        generator=(-G Ninja)
    fi
    (cd "$BULLRING_ROOT" && cmake --preset "$preset" "${generator[@]}" "$@")
}

build_dir() {
    case "$1" in
        release) say "$BULLRING_ROOT/build" ;;
        *) say "$BULLRING_ROOT/build-$1" ;;
    esac
}
