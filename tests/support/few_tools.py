"""Four tools of four servers, for whatever ranks tools."""

from steward.contract.tool import ToolSpec


def tool(name: str, description: str, **properties: str) -> ToolSpec:
    schema = {
        "type": "object",
        "properties": {key: {"description": told} for key, told in properties.items()},
    }
    return ToolSpec(name=name, description=description, input_schema=schema)


TOOLS = (
    tool("github__create_issue", "Open a new issue in a repository", title="The issue's title"),
    tool("files__read_file", "Read the contents of a text file", path="Where the file is"),
    tool("weather__forecast", "Weather for the coming days in a city", city="Name of a city"),
    tool("mail__send", "Send an e-mail message to a recipient", recipient="Address"),
)
