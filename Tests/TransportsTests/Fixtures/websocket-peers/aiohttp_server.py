"""A server of `aiohttp` (Debian python3-aiohttp); what it does is told in README.md."""

import asyncio
import socket

from aiohttp import WSMsgType, web

LIMIT = 64 << 20


async def answer(connection, text):
    command, _, rest = text.partition(" ")
    if command == "!close":
        code, _, reason = rest.partition(" ")
        await connection.close(code=int(code), message=reason.encode())
    elif command == "!ping":
        await connection.ping(rest.encode())
    else:
        await connection.send_str(text)


async def serve(request):
    # With autoping it would keep pongs to itself.
    connection = web.WebSocketResponse(max_msg_size=LIMIT, compress=True, autoping=False)
    await connection.prepare(request)
    reason = ""
    while True:
        message = await connection.receive()
        if message.type == WSMsgType.TEXT:
            await answer(connection, message.data)
        elif message.type == WSMsgType.BINARY:
            await connection.send_bytes(message.data)
        elif message.type == WSMsgType.PING:
            await connection.pong(message.data)
        elif message.type == WSMsgType.PONG:
            await connection.send_str(f"pong {message.data.decode()}")
        else:
            if message.type == WSMsgType.CLOSE:
                reason = message.extra
            break
    print("closed", connection.close_code, reason, flush=True)
    return connection


async def main():
    application = web.Application()
    application.router.add_get("/{path:.*}", serve)
    runner = web.AppRunner(application)
    await runner.setup()
    listener = socket.create_server(("127.0.0.1", 0))
    await web.SockSite(runner, listener).start()
    print("port", listener.getsockname()[1], flush=True)
    await asyncio.Future()


asyncio.run(main())
