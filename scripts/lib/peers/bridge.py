"""A bridge of its own in a network namespace, and a namespace for each member that hangs on it.

Needs root and iproute2. Multicast goes from each to all, as on one switch.
"""

import os
import subprocess


class Bridge:
    _made = 0

    def __init__(self, members):
        Bridge._made += 1
        self._base = f"bullring-{os.getpid()}-peers{Bridge._made}"
        self._spaces = []
        self.addresses = {member: f"10.98.0.{member}" for member in members}
        try:
            self._build()
        except subprocess.CalledProcessError as error:
            self.close()
            raise OSError(f"no network namespaces: {error.stderr.strip()}") from error

    def _build(self):
        switch = f"{self._base}-switch"
        self._add(switch)
        self._ip("-n", switch, "link", "add", "switch", "type", "bridge", "mcast_snooping", "0")
        self._ip("-n", switch, "link", "set", "switch", "up")
        for member, address in self.addresses.items():
            space, port = self._name(member), f"port{member}"
            self._add(space)
            ends = ("netns", switch, "type", "veth", "peer", "name", "eth0", "netns", space)
            self._ip("link", "add", port, *ends)
            self._ip("-n", switch, "link", "set", port, "master", "switch", "up")
            self._ip("-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
            self._ip("-n", space, "link", "set", "lo", "up")
            self._ip("-n", space, "link", "set", "eth0", "up")

    def _name(self, member):
        return f"{self._base}-{member}"

    def _add(self, space):
        self._ip("netns", "add", space)
        self._spaces.append(space)

    @staticmethod
    def _ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def prefix(self, member):
        """What runs a command as that member, as the same process, with a /run of its own."""
        private_run = 'mount -t tmpfs none /run && exec "$@"'
        return ["ip", "netns", "exec", self._name(member), "sh", "-c", private_run, "sh"]

    def plain_prefix(self, member):
        """What runs a command in that member's network, as the same process."""
        return ["ip", "netns", "exec", self._name(member)]

    def close(self):
        for space in self._spaces:
            subprocess.run(["ip", "netns", "del", space], capture_output=True)
        self._spaces = []
