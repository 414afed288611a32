"""Callers that begin and complete TLS handshakes with a node, at a rate; and how late that makes
the node's loop.
"""

import re
import socket
import ssl
import threading
import time
import urllib.request

# A stranger's address: a host may have as many of those as it likes.
STRANGER = "127.0.0.77"
HELD_MAX = 300
_BUCKET = re.compile(r'bullring_loop_lateness_seconds_bucket\{le="([^"]+)"\} (\S+)')


class HandshakeLoad:
    """`half_open` and `complete` are how many there were, after run()."""

    def __init__(self, address, caller, half_open_per_s, complete_per_s):
        """`caller`: the files of a certificate and its key."""
        self.address = address
        self.rates = (half_open_per_s, complete_per_s)
        self.half_open = self.complete = 0
        self._held = []
        # The node's own certificate is not what is tried here.
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._context.check_hostname = False
        self._context.verify_mode = ssl.CERT_NONE
        self._context.minimum_version = ssl.TLSVersion.TLSv1_3
        self._context.load_cert_chain(*map(str, caller))

    def run(self, seconds):
        until = time.monotonic() + seconds
        half_open, complete = self.rates
        # One caller waits for each answer, so there are two who complete.
        work = [(half_open, self._begin), (complete / 2, self._do), (complete / 2, self._do)]
        threads = [
            threading.Thread(target=self._at_rate, args=(rate, call, until)) for rate, call in work
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for held in self._held:
            held.close()

    @staticmethod
    def _at_rate(rate, call, until):
        began, done = time.monotonic(), 0
        while (now := time.monotonic()) < until:
            if done < (now - began) * rate:
                call()
                done += 1
            else:
                time.sleep(max(0.0, began + done / rate - now))

    def _connect(self, source):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        connection.bind((source, 0))
        connection.settimeout(2)
        connection.connect(self.address)
        return connection

    def _begin(self):
        try:
            connection = self._connect(STRANGER)
            connection.send(b"\x16\x03\x01\x02")
        except OSError:
            return
        self.half_open += 1
        self._held.append(connection)
        if len(self._held) > HELD_MAX:
            self._held.pop(0).close()

    def _do(self):
        try:
            with self._context.wrap_socket(self._connect("127.0.0.1")):
                self.complete += 1
        except (OSError, ssl.SSLError):
            return


def loop_lateness(http_port, during):
    """The bound in ms below which 99 % of the loop's delays were while during() ran."""
    before = _buckets(http_port)
    during()
    after = _buckets(http_port)
    counts = {bound: after[bound] - before.get(bound, 0) for bound in after}
    total = max(counts.values())
    return min(bound for bound, count in counts.items() if count >= 0.99 * total) * 1e3


def _buckets(http_port):
    with urllib.request.urlopen(f"http://127.0.0.1:{http_port}/metrics") as answer:
        text = answer.read().decode()
    return {float(bound): int(float(count)) for bound, count in _BUCKET.findall(text)}
