"""The network of a chaos run: a namespace a node, all on one switch in user space (switch.py).

Runs inside the cell. A name server is on the network, too, and names n1, n2, … are asked of it.
"""

import fcntl
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess

from harness import system_calls
from harness.netns import PORT, Spaces
from harness.node import die_with_parent
from chaos.switch import Switch

_TUNSETIFF = 0x400454CA
_IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000
SERVER = 200  # the name server's port of the switch, and the end of its address


def _tap(space_path):
    """A TAP device eth0 in that namespace, and the end that the switch holds."""
    with system_calls.inside(space_path):
        end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        wanted = struct.pack("16sH22x", b"eth0", _IFF_TAP | _IFF_NO_PI)
        fcntl.ioctl(end, _TUNSETIFF, wanted)
    return end


class Network(Spaces):
    """Namespaces by node ID (1 … 199), with addresses 10.99.0.ID."""

    def __init__(self, ids, directory, seed):
        super().__init__()
        pathlib.Path("/run/netns").mkdir(exist_ok=True)
        self.ids = list(ids)
        ports = {}
        for node_id in self.ids:
            self._add(self._name(node_id))
            ports[node_id] = self._attach(self._name(node_id), node_id)
            self.addresses[node_id] = f"10.99.0.{node_id}"
        ports[SERVER] = self._attach(self._middle, SERVER)
        with system_calls.inside(self._path(self._middle)):
            server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            server.bind((f"10.99.0.{SERVER}", 53))
            server.setblocking(False)
        self._resolve_here(directory)
        names = {f"n{node_id}": address for node_id, address in self.addresses.items()}
        self._control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(10)
        self._switch = os.fork()
        if self._switch == 0:
            self._control.close()
            self._be_switch(Switch(ports, names, server, other, seed))
        other.close()
        for end in [server.detach(), *ports.values()]:
            os.close(end)
        self._serial = 0

    @staticmethod
    def _be_switch(switch):
        die_with_parent()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # Ctrl-C is for the script
        try:
            # A network is not slow because the nodes are busy.
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        except OSError:
            pass
        try:
            switch.run()
        finally:
            os._exit(1)

    def _attach(self, space, number):
        end = _tap(self._path(space))
        self._in(space, "sysctl", "-q", "-w", "net.ipv6.conf.all.disable_ipv6=1")
        mac = f"02:00:00:00:00:{number:02x}"
        self._ip("-n", space, "link", "set", "eth0", "address", mac, "up")
        self._ip("-n", space, "link", "set", "lo", "up")
        self._ip("-n", space, "addr", "add", f"10.99.0.{number}/24", "dev", "eth0")
        return end

    @staticmethod
    def _resolve_here(directory):
        """All that runs in the cell asks our name server, and does not ask for long."""
        config = pathlib.Path(directory) / "resolv.conf"
        config.write_text(f"nameserver 10.99.0.{SERVER}\noptions timeout:1 attempts:1\n")
        place = pathlib.Path("/etc/resolv.conf").resolve()
        if not place.exists():  # it was below /run, where the cell has its own
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        system_calls.mount(config, place, None, system_calls.MS_BIND)

    @staticmethod
    def peers(ids):
        return ",".join(f"{node_id}=n{node_id}:{PORT}" for node_id in ids)

    # The fate of frames.

    def _tell(self, **words):
        self._control.send(json.dumps(words).encode())
        return json.loads(self._control.recv(65536))

    def add(self, kind, pairs, **numbers):
        """A rule of the switch for ordered pairs of nodes; its ID."""
        self._serial += 1
        self._tell(do="add", id=self._serial, kind=kind, pairs=sorted(pairs), **numbers)
        return self._serial

    def remove(self, rule):
        """How often it struck."""
        return self._tell(do="remove", id=rule)

    def heal(self):
        """No rule is left, whoever made it."""
        self._tell(do="heal")

    def names(self, mode):
        """Sets what the name server does; how many questions the old mode left unanswered."""
        return self._tell(do="names", mode=mode)

    def all_pairs(self):
        return {(one, other) for one in self.ids for other in self.ids if one != other}

    # Connections.

    def reset(self, node_id, other=None):
        """Ends a node's connections, all or those with another; a process that prints them."""
        words = ["ss", "-K", "-t", "-n", "-H", "state", "established"]
        if other is not None:
            words += ["dst", self.addresses[other]]
        return subprocess.Popen(
            [*self.prefix(node_id), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            preexec_fn=die_with_parent,
        )
