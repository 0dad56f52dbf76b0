"""FastMCP's own proxy in front of a stdio server.

fastmcp_proxy.py PORT COMMAND [ARG ...]
"""

import sys

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

proxy = create_proxy(StdioTransport(sys.argv[2], sys.argv[3:]), name="proxy")
proxy.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="ERROR")
