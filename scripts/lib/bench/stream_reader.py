#!/usr/bin/env python3
"""Reads event streams of a node, and stays when they end, as a browser or a dashboard does.

Usage: stream_reader.py PORT STREAMS     what it reads goes to stdout
"""

import selectors
import socket
import sys

REQUEST = b"GET /events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"


def main():
    port, count = map(int, sys.argv[1:])
    out = sys.stdout.buffer
    streams = selectors.DefaultSelector()
    for _ in range(count):
        stream = socket.create_connection(("127.0.0.1", port))
        stream.sendall(REQUEST)
        streams.register(stream, selectors.EVENT_READ)
    while True:
        for key, _ in streams.select():
            if received := key.fileobj.recv(65536):
                out.write(received)
            else:
                streams.unregister(key.fileobj)
        out.flush()


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"stream_reader: {error}")
