"""Bullring elects one of several processes, on several machines, to do the work that only one may
do. This package is for processes beside a `bullring node` on their machine: they lead through it.

    import bullring

    with bullring.lead() as lead:        # waits until this process leads
        while lead.valid():              # judged by the clock at every call
            poll(table, token=lead.epoch)
            lead.wait(1.0)               # sleeps, and wakes when the task has to end

See python3-bullring(7), and bullring-attach(7) for what is said on the socket."""

from ._async import AsyncLead, alead, arun_while_leader
from ._connection import BullringError, Lost, NotAvailable
from ._fencing import FencingGuard
from ._lead import Lead, lead, run_while_leader
from ._observer import Leader, Observer

__version__ = "0.1.0"

__all__ = [
    "AsyncLead",
    "BullringError",
    "FencingGuard",
    "Lead",
    "Leader",
    "Lost",
    "NotAvailable",
    "Observer",
    "alead",
    "arun_while_leader",
    "lead",
    "run_while_leader",
]
