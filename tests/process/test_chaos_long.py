"""Five minutes of scripts/chaos: every kind of fault strikes, nothing overlaps, and each time that
all is healed there is a leader within the bound.
"""

import subprocess

from harness import netns
import pytest
from harness.node import ROOT
from harness.safety import SafetyViolation
from chaos import groups

REASON = netns.unavailable() or groups.unavailable()
pytestmark = [
    pytest.mark.long,
    pytest.mark.alone,
    pytest.mark.limit(900),
    pytest.mark.skipif(REASON is not None, reason=REASON or ""),
]


def test_five_minutes_under_fire(draw):
    algorithm = draw.choice(["bully", "ring"])
    security = draw.choice(["none", "key", "tls"])
    words = ["--seed", str(draw.randrange(1 << 32)), "--for", "5m"]
    words += ["--algorithm", algorithm, "--security", security]
    done = subprocess.run(
        [ROOT / "scripts" / "chaos", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    text = done.stdout.decode(errors="replace")
    print(text)
    if done.returncode == 3:
        raise SafetyViolation(text)
    assert done.returncode == 0, text
