"""A WebSocket server that echoes, and with --client its client: texts, bytes, pings and the close code have to come back."""

import asyncio
import sys

import websockets

SIZES = (0, 1, 125, 126, 65535, 65536, 1 << 20)


async def echo(ws):
    async for message in ws:
        if message == "bye":
            await ws.close(4001, "as asked")
        await ws.send(message)


async def serve(address):
    host, port = address.rsplit(":", 1)
    async with websockets.serve(echo, host, int(port), max_size=None, subprotocols=["notes"]):
        await asyncio.Future()


async def call(url):
    async with websockets.connect(url, max_size=None, subprotocols=["other", "notes"]) as ws:
        assert ws.subprotocol == "notes", ws.subprotocol
        for size in SIZES:
            for message in ("中" * size, bytes(size)):
                await ws.send(message)
                got = await asyncio.wait_for(ws.recv(), 10)
                assert got == message, (size, type(message), len(got))
        await asyncio.wait_for(await ws.ping(b"1"), 10)
        await ws.send("bye")
        try:
            await asyncio.wait_for(ws.recv(), 10)
            raise AssertionError("it is not closed")
        except websockets.ConnectionClosed as closed:
            assert (closed.rcvd.code, closed.rcvd.reason) == (4001, "as asked"), closed
    print("all came back")


asyncio.run(call(sys.argv[2]) if sys.argv[1] == "--client" else serve(sys.argv[1]))
