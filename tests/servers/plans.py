"""A server that offers documents to read, each with its name and description."""

from fastmcp import FastMCP

server: FastMCP = FastMCP("plans")


@server.resource("plans://release-plan", name="release plan", description="Dates and owners of the release.")
def release_plan() -> str:
    return "Release 2.0 ships on March 3. Ana owns it."


@server.resource("plans://garden-plan", name="garden plan", description="What grows where.")
def garden_plan() -> str:
    return "Tomatoes by the wall."


if __name__ == "__main__":
    server.run(show_banner=False)
