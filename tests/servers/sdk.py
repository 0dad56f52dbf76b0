"""A server on the official SDK, whose tools change and say so in both eras."""

from mcp.server.mcpserver import Context, MCPServer


def make_server() -> MCPServer:
    server = MCPServer("sdk")

    @server.tool()
    async def grow(ctx: Context) -> str:
        """Offer one more tool from now on."""

        def grown() -> str:
            """It was not there before."""
            return "new"

        server.add_tool(grown)
        await ctx.notify_tools_changed()
        return "grown"

    return server


if __name__ == "__main__":
    make_server().run()
