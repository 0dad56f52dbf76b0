"""A server that says which trace a call told it that it belongs to."""

from fastmcp import Context, FastMCP

server: FastMCP = FastMCP("traced")


@server.tool(annotations={"readOnlyHint": True})
def trace(ctx: Context) -> str:
    """What the call's _meta says of its trace."""
    assert ctx.request_context is not None
    return str(dict(ctx.request_context.meta or {}).get("traceparent"))


if __name__ == "__main__":
    server.run(show_banner=False)
