"""Faults of what nodes know each other by: keys and certificates that change while they run."""

import concurrent.futures
import signal
import socket
import ssl
import threading

from harness import system_calls
from harness.netns import PORT
from harness.secrets import Authority, key_environment, key_id, key_line, write_private
from chaos.fault import Fault, OnOneNode, kinds


class Trust:
    """The secrets of one cluster, by its security mode."""

    def __init__(self, security, directory, cluster):
        self.security = security
        self.directory = directory
        self.key = key_line()
        self.authority = Authority(directory / "ca", cluster) if security == "tls" else None
        self._administrator = self.authority.flags("admin") if self.authority else []

    def equip(self, node):
        """Tells a node where its secrets are, and makes them."""
        if self.security == "key":
            node.environment |= key_environment(self.key_file(node))
            self.write_keys([node], self.key)
        elif self.security == "tls":
            node.environment["BULLRING_SECURITY"] = "tls"
            node.flags += self.authority.flags(f"node/{node.id}")

    def administrator(self, node):
        """Flags and environment of who asks for a change of the members, on the node's machine."""
        key = key_environment(self.key_file(node)) if self.security == "key" else {}
        return self._administrator, key

    def key_file(self, node):
        return self.directory / f"node-{node.id}.key"

    def write_keys(self, nodes, *lines):
        for node in nodes:
            write_private(self.key_file(node), "".join(lines))

    def certificate_file(self, node):
        return self.directory / "ca" / f"node-{node.id}.crt"


def reread(nodes):
    for node in nodes:
        if node.running:
            node.current.process.send_signal(signal.SIGHUP)


@kinds("key-rotation")
class KeyRotation(Fault):
    """The three steps of bullring-security(7), one right after the other. Seen is that the nodes
    dial with the new key: its name stands in their handshakes."""

    def begin(self):
        if not self.stage.claim_once("trust"):
            return False
        self.trust = self.stage.trust
        self.nodes = list(self.stage.cluster)
        self.old, self.new = self.trust.key, key_line()
        text = f"/{key_id(self.new)}/"
        network = self.stage.network
        self.rule = network.add("look", network.all_pairs(), text=text)
        self.step(self.old, self.new)
        self.stage.after(300, self.use)
        return True

    def step(self, *lines):
        self.trust.write_keys(self.nodes, *lines)
        reread(self.nodes)

    def use(self):
        if self.trust.key == self.old:
            self.trust.key = self.new
            self.step(self.new, self.old)

    def end(self):
        self.use()
        self.step(self.new)
        self.stage.release_once("trust")
        return self.stage.network.remove(self.rule) > 0


@kinds("certificate-rotation")
class CertificateRotation(OnOneNode):
    """A new key and certificate. Seen is that a caller is shown them. All of it takes time, and is
    done beside."""

    claims = ("certificate",)
    _beside = concurrent.futures.ThreadPoolExecutor(4)
    _one_by_one = threading.Lock()  # the CA counts

    def strike(self):
        self.over = threading.Event()
        self.rotation = self._beside.submit(self.rotate)
        return True

    def rotate(self):
        """Whether the new certificate was shown in time."""
        trust, network = self.stage.trust, self.stage.network
        with self._one_by_one:
            trust.authority.issue(f"node/{self.node.id}")
        wanted = ssl.PEM_cert_to_DER_cert(trust.certificate_file(self.node).read_text())
        reread([self.node])
        while not self.over.wait(0.1):
            try:
                place = network.path(self.node.id), network.addresses[self.node.id]
                if shown_certificate(*place) == wanted:
                    return True
            except OSError:
                pass  # it does not run, or does not get on
        return False

    def undo(self):
        self.over.set()
        try:
            return self.rotation.result(timeout=1)
        except concurrent.futures.TimeoutError:
            return False


def shown_certificate(space, address):
    """The certificate of a node, as a caller without one of its own sees it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with system_calls.inside(space):
        caller = socket.create_connection((address, PORT), timeout=0.5)
    with caller, context.wrap_socket(caller) as secured:
        return secured.getpeercert(binary_form=True)
