"""Two yardsticks: an HTTP server that echoes, and one that passes the body to a stdio server and back.

baseline.py STACK PORT                    echo
baseline.py STACK PORT COMMAND [ARG ...]  echo through a stdio server

STACK is `plain` (h11 on asyncio) or `fast` (httptools on uvloop).
"""

import asyncio
import json
import sys

import uvicorn

HEADERS = [(b"content-type", b"application/json")]


class Echo:
    async def __call__(self, scope, receive, send):
        message = await receive()
        await self.answer(message["body"], send)

    async def answer(self, body, send):
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        await send({"type": "http.response.body", "body": body})


class Forward(Echo):
    def __init__(self, command):
        self.command = command
        self.process = None
        self.turn = asyncio.Lock()

    async def answer(self, body, send):
        async with self.turn:
            if self.process is None:
                pipe = asyncio.subprocess.PIPE
                self.process = await asyncio.create_subprocess_exec(*self.command, stdin=pipe, stdout=pipe)
            if "id" not in json.loads(body):
                line = b"{}"
            else:
                self.process.stdin.write(body.replace(b"\n", b" ") + b"\n")
                line = await self.process.stdout.readline()
        await super().answer(line, send)


stack, port, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
http, loop = ("h11", "asyncio") if stack == "plain" else ("httptools", "uvloop")
app = Forward(command) if command else Echo()
uvicorn.run(app, port=port, log_level="error", http=http, loop=loop, lifespan="off")
