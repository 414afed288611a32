"""The namespaces of the members of a peer: all hang on one switch, and multicast goes to all."""

import subprocess

from harness import netns


class Bridge(netns.Bridge):
    def __init__(self, members):
        try:
            super().__init__(members)
            snooping = ("type", "bridge", "mcast_snooping", "0")
            self._ip("-n", self._middle, "link", "set", "switch", *snooping)
        except subprocess.CalledProcessError as error:
            self.close()
            raise OSError(f"no network namespaces: {error.stderr.strip()}") from error

    def private_prefix(self, member):
        """The words that exec a command as that member, with a /run of its own."""
        private_run = 'mount -t tmpfs none /run && exec "$@"'
        return [*self.prefix(member), "sh", "-c", private_run, "sh"]
