"""A FastMCP server with everything: progress, questions of both eras, resources, prompts, changing tools."""

import asyncio
import sys
import warnings

import mcp_types as types
from fastmcp import Context, FastMCP

QUESTION = {"type": "object", "properties": {"value": {"type": "boolean"}}, "required": ["value"]}


def make_server() -> FastMCP:
    mcp: FastMCP = FastMCP("modern")
    add_plain(mcp)
    add_talking(mcp)
    add_others(mcp)
    return mcp


def add_plain(mcp: FastMCP) -> None:
    @mcp.tool(annotations={"readOnlyHint": True})
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @mcp.tool
    def fail() -> str:
        """Fail."""
        raise ValueError("it does not work")

    @mcp.tool
    async def wait() -> str:
        """Wait until cancelled."""
        await asyncio.sleep(3600)
        return "never"


def add_talking(mcp: FastMCP) -> None:
    @mcp.tool
    async def steps(ctx: Context, count: int = 3) -> str:
        """Report progress."""
        for step in range(count):
            await ctx.report_progress(step + 1, count, f"step {step + 1}")
        return "done"

    @mcp.tool
    async def ask_old(ctx: Context) -> str:
        """Ask the person, as servers up to 2025-11-25 do."""
        answer = await ctx.elicit("Really?", response_type=bool)
        return f"{answer.action} {getattr(answer, 'data', None)}"

    @mcp.tool
    async def ask_new(ctx: Context) -> str | types.InputRequiredResult:
        """Ask the person, as servers from 2026-07-28 on do."""
        if ctx.input_responses:
            answer = ctx.input_responses["sure"]
            return f"{answer.action} {answer.content}"
        params = types.ElicitRequestFormParams(message="Really?", requested_schema=QUESTION)
        return types.InputRequiredResult(input_requests={"sure": types.ElicitRequest(params=params)})

    @mcp.tool
    async def borrow(ctx: Context) -> str:
        """Ask the client's model."""
        question = types.SamplingMessage(role="user", content=types.TextContent(text="What is the answer?"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecated from 2026-07-28 on, in use before
            answer = await ctx.session.create_message([question], max_tokens=10)
        return f"it said {answer.content.text}"

    @mcp.tool
    async def grow(ctx: Context) -> str:
        """Offer one more tool from now on."""

        @mcp.tool
        def grown() -> str:
            """It was not there before."""
            return "new"

        await ctx.session.send_tool_list_changed()
        return "grown"


def add_others(mcp: FastMCP) -> None:
    @mcp.resource("note://today")
    def today() -> str:
        return "Water the plants."

    @mcp.resource("note://{day}")
    def note(day: str) -> str:
        return f"Nothing on {day}."

    @mcp.prompt
    def greet(name: str) -> str:
        return f"Say hello to {name}."


if __name__ == "__main__":
    make_server().run(show_banner=False, log_level="ERROR")
    sys.exit(0)
