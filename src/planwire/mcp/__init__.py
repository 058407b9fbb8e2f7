"""planwire as an MCP server: the plan tools, the plans as resources, and a prompt, for any MCP host.

The official SDK speaks the protocol. It is an extra and slow to load: only `planwire mcp` imports it.
"""

from planwire.extras import missing_extra

try:
    from planwire.mcp.server import serve
except ImportError as error:
    raise missing_extra("the MCP server", "mcp", error) from error

__all__ = ["serve"]
