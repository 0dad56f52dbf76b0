"""Connections to MCP servers: ten at once beside the slowest alone, and one call beside its peers.

Prints ratios. Budget: ten stdio servers within 1.3 times the slowest one alone.
"""

import asyncio
import statistics
import subprocess
import sys
import time
from pathlib import Path

from fastmcp import Client
from fastmcp.client.transports import StdioTransport as FastStdio
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from steward.providers.mcp.mcp_config import ServerConfig, StdioTransport
from steward.providers.mcp.pool import setup_mcp_tools
from steward.providers.mcp.server_agent import MCPServerAgent

SERVERS = Path(__file__).parent.parent / "tests" / "servers"
CALLS = 1000
ROUNDS = 3


def server(name: str, *arguments: str) -> ServerConfig:
    transport = StdioTransport(sys.executable, (str(SERVERS / "raw.py"), *arguments))
    return ServerConfig(name=name, namespace=name, transport=transport, timeout=60)


async def connect(servers: list[ServerConfig]) -> float:
    started = time.perf_counter()
    agents = await setup_mcp_tools(servers)
    taken = time.perf_counter() - started
    tools = sum(len(agent.manifest().tools) for agent in agents)
    assert tools >= 50 or len(servers) == 1
    await asyncio.gather(*(agent.shutdown() for agent in agents))
    return taken


async def ten_beside_one() -> None:
    """The slowest waits on something else for a second, as a server that signs in or downloads does."""
    slow = server("slow", "--delay", "1.0")
    ten = [slow, *(server(f"quick{n}") for n in range(9))]
    one = statistics.median([await connect([slow]) for _ in range(ROUNDS)])
    all_of_them = statistics.median([await connect(ten) for _ in range(ROUNDS)])
    ratio = all_of_them / one
    print(f"ten servers {all_of_them:.2f} s, the slowest alone {one:.2f} s: ratio {ratio:.2f} (at most 1.3)")


async def median(call) -> float:
    for _ in range(50):
        await call()
    taken = []
    for _ in range(CALLS):
        started = time.perf_counter()
        await call()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


async def calls() -> None:
    command = [sys.executable, str(SERVERS / "raw.py")]
    results = {"bare pipe": bare_pipe(command)}
    agent = MCPServerAgent(server("raw"))
    await agent.initialize()
    results["steward"] = await median(lambda: agent.execute("raw__echo", {"text": "x"}))
    await agent.shutdown()
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        await session.list_tools()
        results["official SDK"] = await median(lambda: session.call_tool("echo", {"text": "x"}))
    async with Client(FastStdio(command[0], command[1:]), mode="legacy") as client:
        results["FastMCP client"] = await median(lambda: client.call_tool("echo", {"text": "x"}))
    base = results["bare pipe"]
    for name, seconds in results.items():
        print(f"{name:>15}: {seconds * 1e6:7.0f} us a call, {seconds / base:5.1f} times the bare pipe")
    assert results["steward"] < results["official SDK"] < results["FastMCP client"] * 1.2


def bare_pipe(command: list[str]) -> float:
    """The server's own time: blocking writes and reads, nothing else."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        params = b'{"name":"echo","arguments":{"text":"x"}}'
        line = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + params + b"}\n"
        taken = []
        for _ in range(CALLS):
            started = time.perf_counter()
            process.stdin.write(line)
            process.stdin.flush()
            process.stdout.readline()
            taken.append(time.perf_counter() - started)
        process.stdin.close()
    return statistics.median(taken)


if __name__ == "__main__":
    asyncio.run(ten_beside_one())
    asyncio.run(calls())
