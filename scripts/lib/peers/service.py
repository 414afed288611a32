"""A service of three servers, and a client of it for each member: who leads is a client."""

from peers.observer import SERVES
from peers.system import System


class Service(System):
    """A subclass says by which line of its log a server leads the service."""

    def __init__(self, setting):
        super().__init__(setting)
        self._leading_server = None

    @staticmethod
    def leads_service(line):
        raise NotImplementedError

    def spawn_server(self, member, command):
        """Its log is what it writes to its errors."""
        self.spawn(
            f"server-{member}",
            command,
            lambda line: self._parse_server(member, line),
            None,
            errors=True,
        )

    def _parse_server(self, member, line):
        if not self.leads_service(line):
            return []
        self._leading_server = f"server-{member}"
        return [(SERVES, self._leading_server)]

    def leader_processes(self, member):
        return [self.processes[f"client-{member}"].pid]

    def member_processes(self, member):
        return [self.processes[f"{part}-{member}"].pid for part in ("server", "client")]

    def service_leader(self):
        return self._leading_server
