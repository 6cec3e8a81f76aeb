"""A server of `websockets` (Debian python3-websockets); what it does is told in README.md."""

import asyncio

import websockets

LIMIT = 64 << 20


async def answer(socket, message):
    if not isinstance(message, str) or not message.startswith("!"):
        await socket.send(message)
        return
    command, _, rest = message.partition(" ")
    if command == "!close":
        code, _, reason = rest.partition(" ")
        await socket.close(int(code), reason)
    elif command == "!ping":
        await (await socket.ping(rest))
        await socket.send(f"pong {rest}")


async def serve(socket):
    # A ping waits for what only reading brings, hence the tasks.
    tasks = set()
    try:
        async for message in socket:
            if isinstance(message, str) and message.startswith("!ping"):
                task = asyncio.create_task(answer(socket, message))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            else:
                await answer(socket, message)
    except websockets.ConnectionClosed:
        pass
    print("closed", socket.close_code, socket.close_reason, flush=True)


async def main():
    async with websockets.serve(
        serve, "127.0.0.1", 0, max_size=LIMIT, compression="deflate", ping_interval=None
    ) as server:
        print("port", server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Future()


asyncio.run(main())
