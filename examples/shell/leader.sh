#!/bin/sh
# Runs a command on one of several machines, through the node beside it: bullring-attach(7).
#
#     sh leader.sh DATA-DIR COMMAND [ARG...]
#
# The command has the fencing token in BULLRING_EPOCH. When the leadership is lost it gets SIGTERM, and
# SIGKILL when half of the time that is left is over. Needs socat, util-linux, and a sleep of fractions.
#
# A shell cannot read the page, so it does not know until when it leads: the instant in `elected` is
# renewed in the page alone. It relies on `stop`, and on the end of the connection. A node that stands
# still says neither until it is killed, and a shell that stands still heeds neither: where a lower
# epoch is not refused, use bullring-run(1) or bullring-lead(1).
set -u
socket=$1/attach.sock
shift
pipes=$(mktemp -d) && trap 'rm -r "$pipes"' EXIT
mkfifo "$pipes/to" "$pipes/from" "$pipes/alive" || exit
# All that happens comes as a line of one pipe. This shell holds both of its ends, so it never ends.
{ socat -t 0.01 - "UNIX-CONNECT:$socket"; echo '{"event":"closed"}'; } <"$pipes/to" >"$pipes/from" &
exec 3>"$pipes/to" 4<>"$pipes/from"
trap 'echo "{\"event\":\"quit\"}" >&4' TERM INT

say() { echo "$1" >&3; }
number() { rest=${line#*\""$1"\":} && echo "${rest%%[!0-9]*}"; }
# Of CLOCK_BOOTTIME, as the node's instants are; rounded up.
now_ms() { read -r up _ </proc/uptime && echo "$((${up%.*}${up#*.} * 10 + 10))"; }
ms_until() { echo "$(($(number "$1") / 1000000 - $(now_ms)))"; }
end_within() { # MS
    kill -s TERM -- "-$command" 2>/dev/null
    seconds=$(printf '%d.%03d' "$(($1 > 0 ? $1 / 1000 : 0))" "$(($1 > 0 ? $1 % 1000 : 0))")
    { sleep "$seconds"; echo "{\"event\":\"late $command\"}" >&4; } 3>&- >/dev/null 2>&1 &
}

command='' after=exit
say '{"op":"campaign"}'
while read -r line <&4 || :; do # a signal ends it
    case $line in
    *'"event":"elected"'*)
        left=$(ms_until valid_until_ns)
        # The end of the command is the end of all that it has started: they all hold this pipe. They
        # hold the connection, too: if this shell is killed, so is the command, and the leadership
        # lasts until nothing is left of it.
        { cat <"$pipes/alive"; echo '{"event":"ended"}' >&4; } 3>&- &
        BULLRING_EPOCH=$(number epoch) setsid setpriv --pdeathsig KILL -- "$@" 4<&- 5>"$pipes/alive" &
        command=$!
        ;;
    *'"event":"stop"'*)
        [ "$after" = quit ] || after=campaign
        end_within "$(($(ms_until by_ns) / 2))"
        ;;
    # At least a quarter of a lease is left then, and `left` was no more than a whole one.
    *'"event":"closed"'*)
        [ -n "$command" ] || exit 1
        after=closed
        end_within "$((left / 8))"
        ;;
    *'"event":"quit"'*)
        [ -n "$command" ] || exit 143
        after=quit
        end_within 5000
        ;;
    *"\"event\":\"late $command\""*) kill -s KILL -- "-$command" 2>/dev/null ;;
    *'"event":"ended"'*)
        wait "$command"
        status=$?
        [ "$after" != closed ] || exit 1
        say '{"op":"done"}'
        [ "$after" = campaign ] || exit "$status"
        command='' after=exit
        say '{"op":"campaign"}'
        ;;
    *'"event":"error"'*) echo "leader.sh: $line" >&2 ;;
    esac
done
