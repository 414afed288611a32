"""The timing profiles of the protocol, as far as scripts that wait and judge need them (in ms)."""

import dataclasses
import math

RATE_ERROR = 0.001  # The assumed error of a clock's rate.


@dataclasses.dataclass(frozen=True)
class Profile:
    heartbeat: float
    suspect_after: float
    lease: float
    campaign_lease: float
    ok_timeout: float
    campaign_timeout: float
    coordinator_timeout: float
    ring_timeout: float

    @property
    def promise(self):
        """How long a voter keeps its promise for a lease, in ms."""
        return math.ceil(self.lease * (1 + RATE_ERROR) / (1 - RATE_ERROR)) + 1

    @property
    def promise_s(self):
        return self.promise / 1000


PROFILES = {
    "realtime": Profile(4, 12, 20, 12, 2, 5, 8, 14),
    "fast": Profile(20, 80, 200, 120, 20, 40, 80, 120),
    "lan": Profile(50, 200, 500, 250, 30, 100, 160, 250),
    "cloud": Profile(100, 400, 1000, 400, 50, 150, 250, 400),
    "wan": Profile(250, 1000, 3000, 1500, 300, 700, 1200, 2500),
}


def timing_of(profile, flags):
    """A profile's, with the lease that the flags of all nodes say, in whole s or ms."""
    chosen = [after for flag, after in zip(flags, flags[1:]) if flag == "--lease"]
    if not chosen:
        return PROFILES[profile]
    number, unit = chosen[-1].rstrip("ms"), chosen[-1].lstrip("0123456789")
    return dataclasses.replace(PROFILES[profile], lease=int(number) * {"ms": 1, "s": 1000}[unit])
