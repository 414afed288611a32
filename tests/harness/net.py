"""Loopback ports that nobody else gets, and a relay whose links can be cut.

The relay is a network that a test can partition without any privilege: each ordered pair of nodes
has an address of its own, and a cut pair carries nothing while its connections stay open, as when
packets are lost.
"""

import collections
import os
import queue
import random
import selectors
import socket
import struct
import threading

# Below the kernel's range for outgoing connections, so that no client port gets in the way.
FIRST_PORT, LAST_PORT = 12000, 31999


class PortHolder:
    """Reserves loopback ports for as long as the holder lives.

    A held socket is bound, never listening: a node that binds with SO_REUSEADDR gets the port, and
    a connection to it is refused as long as no node listens.
    """

    def __init__(self):
        self._sockets = {}
        self._random = random.Random(os.urandom(8))

    def take(self):
        for _ in range(2000):
            port = self._random.randint(FIRST_PORT, LAST_PORT)
            try:
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
                held = socket.socket()
                held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                held.bind(("127.0.0.1", port))
            except OSError:
                continue
            self._sockets[port] = held
            return port
        raise OSError(f"no free port on 127.0.0.1 between {FIRST_PORT} and {LAST_PORT}")

    def release(self):
        for held in self._sockets.values():
            held.close()
        self._sockets.clear()


class _Pipe:
    """One direction of one relayed connection."""

    def __init__(self, source, sink, link, way):
        self.source = source
        self.sink = sink
        self.link = link
        self.way = way
        self.pending = collections.deque()
        self.size = 0
        self.ended = False


class Relay:
    """Forwards TCP for ordered pairs of nodes; runs in a thread of its own.

    A pair's bytes travel both ways (the answers use the same connection), so cutting the pair
    (a, b) stops the connections that a has dialled to b.
    """

    PENDING_MAX = 1 << 20

    def __init__(self, tap=None):
        """`tap(pair, way, data)` is called in the relay's thread with all that it reads; `way` is
        (number of the connection, whether its dialler says it)."""
        self._tap = tap
        self._accepted = 0
        self._selector = selectors.DefaultSelector()
        self._cut = set()
        self._lock = threading.Lock()
        self._pipes = {}
        self._listeners = {}
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        self._selector.register(self._wake_in, selectors.EVENT_READ)
        self._stopping = False
        self._commands = collections.deque()
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)
        self._thread.start()

    def add(self, pair, target_port):
        """Opens the way for `pair` to 127.0.0.1:target_port and returns the port to dial."""
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        listener.setblocking(False)
        self._do(lambda: self._open(listener, pair, target_port))
        return listener.getsockname()[1]

    def put_between(self, cluster, lead_to=lambda dialler, dialled: dialled):
        """Has the nodes of a cluster dial each other here; `lead_to`: whom they really reach."""
        for node in cluster:
            ports = {
                peer.id: self.add((node.id, peer.id), lead_to(node, peer).port)
                for peer in cluster
                if peer is not node
            }
            ports = {**ports, node.id: node.port}
            node.peers = ",".join(f"{i}=127.0.0.1:{ports[i]}" for i in sorted(ports))

    def cut(self, pairs):
        """Nothing of these pairs gets through from now on."""
        with self._lock:
            self._cut |= set(pairs)
        self._do(lambda: None)

    def reset(self, pairs):
        """The same, and their connections end by RST."""
        self.cut(pairs)
        self._do(lambda: self._abort_all(set(pairs)))

    def heal(self):
        """Everything gets through again, also what was held back."""
        with self._lock:
            self._cut.clear()
        self._do(self._resume)

    def drop_all(self):
        """Ends every relayed connection, half of them by FIN and half by RST. How many it were."""
        ended = queue.SimpleQueue()
        self._do(lambda: ended.put(self._drop_all()))
        return ended.get(timeout=10)

    def close(self):
        self._do(self._stop)
        self._thread.join()
        # Not by the thread: whoever wakes it may still be at it when it ends.
        self._wake_in.close()
        self._wake_out.close()

    def _stop(self):
        self._stopping = True

    def _do(self, command):
        self._commands.append(command)
        try:
            self._wake_out.send(b"x")
        except BlockingIOError:
            pass

    def _is_cut(self, link):
        with self._lock:
            return link in self._cut

    def _open(self, listener, pair, target_port):
        self._listeners[listener] = (pair, target_port)
        self._selector.register(listener, selectors.EVENT_READ)

    def _run(self):
        while not self._stopping:
            for key, mask in self._selector.select():
                if key.fileobj is self._wake_in:
                    self._wake_in.recv(4096)
                elif key.fileobj in self._listeners:
                    self._accept(key.fileobj)
                elif key.fileobj in self._pipes:
                    self._move(key.fileobj, mask)
            while self._commands:
                self._commands.popleft()()
        for known in list(self._pipes) + list(self._listeners):
            known.close()
        self._selector.close()

    def _accept(self, listener):
        pair, target_port = self._listeners[listener]
        if self._is_cut(pair):
            # The dialler waits for its handshake, as it would for lost packets.
            self._selector.unregister(listener)
            return
        try:
            near, _ = listener.accept()
        except OSError:
            return
        far = socket.socket()
        try:
            far.connect(("127.0.0.1", target_port))
        except OSError:
            self._reset(near)
            far.close()
            return
        for end in (near, far):
            end.setblocking(False)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._accepted += 1
        to_far = _Pipe(near, far, pair, (self._accepted, True))
        self._pipes[near] = (to_far, _Pipe(far, near, pair, (self._accepted, False)))
        self._pipes[far] = (self._pipes[near][1], self._pipes[near][0])
        self._watch(near)
        self._watch(far)

    def _resume(self):
        for listener in self._listeners:
            if listener not in self._selector.get_map():
                self._selector.register(listener, selectors.EVENT_READ)
        for end in list(self._pipes):
            self._watch(end)

    def _abort_all(self, pairs):
        for end in list(self._pipes):
            if end in self._pipes and self._pipes[end][0].link in pairs:
                self._abort(self._pipes[end][0])

    def _drop_all(self):
        both = {frozenset((pipe.source, pipe.sink)): pipe for pipe, _ in self._pipes.values()}
        for number, pipe in enumerate(both.values()):
            (self._close if number % 2 else self._abort)(pipe)
        return len(both)

    def _watch(self, end):
        """Registers for exactly what this end can do now."""
        if end not in self._pipes:
            return
        from_end, to_end = self._pipes[end]
        wanted = 0
        if not self._is_cut(from_end.link):
            if not from_end.ended and from_end.size < self.PENDING_MAX:
                wanted |= selectors.EVENT_READ
            if to_end.pending:
                wanted |= selectors.EVENT_WRITE
        known = end in self._selector.get_map()
        if wanted and known:
            self._selector.modify(end, wanted)
        elif wanted:
            self._selector.register(end, wanted)
        elif known:
            self._selector.unregister(end)

    def _move(self, end, mask):
        from_end, to_end = self._pipes[end]
        if not self._is_cut(from_end.link):
            try:
                if mask & selectors.EVENT_READ:
                    self._read(from_end)
                if mask & selectors.EVENT_WRITE:
                    self._write(to_end)
                self._write(from_end)
            except OSError:
                self._abort(from_end)
                return
        if from_end.ended and to_end.ended and not from_end.pending and not to_end.pending:
            self._close(from_end)
            return
        self._watch(from_end.source)
        self._watch(from_end.sink)

    def _read(self, pipe):
        try:
            data = pipe.source.recv(1 << 16)
        except BlockingIOError:
            return
        if self._tap is not None:
            self._tap(pipe.link, pipe.way, data)
        if data:
            pipe.pending.append(data)
            pipe.size += len(data)
        else:
            pipe.ended = True
            if not pipe.pending:
                pipe.sink.shutdown(socket.SHUT_WR)

    @staticmethod
    def _write(pipe):
        while pipe.pending:
            try:
                sent = pipe.sink.send(pipe.pending[0])
            except BlockingIOError:
                return
            pipe.size -= sent
            left = pipe.pending.popleft()[sent:]
            if left:
                pipe.pending.appendleft(left)
                return
            if not pipe.pending and pipe.ended:
                pipe.sink.shutdown(socket.SHUT_WR)

    @staticmethod
    def _reset(end):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end.close()

    def _abort(self, pipe):
        self._forget(pipe)
        self._reset(pipe.source)
        self._reset(pipe.sink)

    def _close(self, pipe):
        self._forget(pipe)
        pipe.source.close()
        pipe.sink.close()

    def _forget(self, pipe):
        for end in (pipe.source, pipe.sink):
            self._pipes.pop(end, None)
            if end in self._selector.get_map():
                self._selector.unregister(end)
