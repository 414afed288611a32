#!/usr/bin/env python3
"""A web service of which one instance is ready: that of the machine that leads.

    service_aiohttp.py PORT [DATA-DIR]

Start it on each machine beside a `bullring node` (python3-bullring(7)), and let the load balancer
ask for /readyz."""

import asyncio
import contextlib
import sys

import bullring
from aiohttp import web


class Service:
    def __init__(self, *where):
        self.where = where
        self.lead = None
        self.count = 0

    async def work(self, lead):
        """Of the leader alone; it is cancelled when the leadership has to end."""
        self.lead = lead
        try:
            while True:
                self.count += 1
                await asyncio.sleep(0.1)
        finally:
            self.lead = None

    def leads(self):
        return self.lead is not None and self.lead.valid()

    async def readyz(self, _):
        return web.Response(status=200 if self.leads() else 503)

    async def answer(self, _):
        if not self.leads():
            raise web.HTTPServiceUnavailable(text="another one leads\n")
        return web.json_response({"count": self.count, "epoch": self.lead.epoch})

    async def lifetime(self, _):
        """While the service runs."""
        candidacy = asyncio.create_task(bullring.arun_while_leader(self.work, *self.where))
        candidacy.add_done_callback(self.ended)
        yield
        candidacy.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await candidacy

    @staticmethod
    def ended(candidacy):
        # Another end, as by NotAvailable, ends the service; let a supervisor start it again.
        if not candidacy.cancelled():
            raise web.GracefulExit from candidacy.exception()


def main():
    service = Service(*sys.argv[2:3])
    app = web.Application()
    app.cleanup_ctx.append(service.lifetime)
    app.add_routes([web.get("/readyz", service.readyz), web.get("/", service.answer)])
    web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)


if __name__ == "__main__":
    main()
