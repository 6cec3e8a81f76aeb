"""WebSocket clients of Python, from PyPI: picows, aiohttp, websockets.

    py_client.py LIBRARY PORT SIZE INFLIGHT COUNT

LIBRARY is one of those names; with "-uvloop" behind it, on uvloop instead of asyncio's own loop.
What is measured is told in report.h.
"""

import asyncio
import logging
import resource
import sys
import time

# picows tells of each time that the system takes no more.
logging.disable(logging.WARNING)

LIMIT = 64 << 20  # bytes of a message; above the largest one here


def processor():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Bench:
    def __init__(self, name, port, size, inflight, count):
        self.name, self.size, self.inflight, self.count = name, size, inflight, count
        self.url = f"ws://127.0.0.1:{port}/"
        self.payload = b"a" * size

    def start(self):
        self.processor = processor()
        self.wall = time.perf_counter()

    def report(self):
        wall = time.perf_counter() - self.wall
        used = processor() - self.processor
        rate = self.count / wall
        print(
            f"{self.name} size={self.size} win={self.inflight} n={self.count} rt/s={rate:.0f} "
            f"MB/s={rate * self.size / 1e6:.1f} us_cpu/msg={used / self.count * 1e6:.2f}"
        )

    async def exchange(self, send, receive):
        """For libraries whose sending and receiving are coroutines."""
        payload = self.payload
        self.start()
        sent = min(self.inflight, self.count)
        for _ in range(sent):
            await send(payload)
        for _ in range(self.count):
            message = await receive()
            assert len(message) == self.size, len(message)
            if sent < self.count:
                await send(payload)
                sent += 1
        self.report()


async def with_websockets(bench):
    from websockets.asyncio.client import connect

    async with connect(
        bench.url, compression=None, max_size=LIMIT, ping_interval=None
    ) as socket:
        await bench.exchange(socket.send, socket.recv)


async def with_aiohttp(bench):
    import aiohttp

    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(bench.url, max_msg_size=LIMIT) as socket:
            await bench.exchange(socket.send_bytes, socket.receive_bytes)


async def with_picows(bench):
    from picows import WSListener, WSMsgType, ws_connect

    over = asyncio.get_running_loop().create_future()

    class Listener(WSListener):
        """Called for each frame; sends from there, without a coroutine between."""

        def on_ws_connected(self, transport):
            bench.start()
            self.received = 0
            self.sent = min(bench.inflight, bench.count)
            for _ in range(self.sent):
                transport.send(WSMsgType.BINARY, bench.payload)

        def on_ws_frame(self, transport, frame):
            if frame.msg_type != WSMsgType.BINARY:
                return
            assert frame.payload_size == bench.size, frame.payload_size
            self.received += 1
            if self.received == bench.count:
                bench.report()
                over.set_result(None)
            elif self.sent < bench.count:
                transport.send(WSMsgType.BINARY, bench.payload)
                self.sent += 1

        def on_ws_disconnected(self, transport):
            if not over.done():
                over.set_exception(ConnectionError("the server has closed"))

    transport, _ = await ws_connect(Listener, bench.url, max_frame_size=LIMIT)
    await over
    transport.disconnect()


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    name = sys.argv[1]
    library, _, loop = name.partition("-")
    client = {
        "picows": with_picows,
        "aiohttp": with_aiohttp,
        "websockets": with_websockets,
    }[library]
    bench = Bench(name, *map(int, sys.argv[2:]))
    if loop == "uvloop":
        import uvloop

        uvloop.run(client(bench))
    else:
        asyncio.run(client(bench))


main()
