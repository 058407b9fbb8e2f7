"""planwire as an MCP server: the plan tools, the plans as resources, and a prompt, for any MCP host.

The official SDK speaks the protocol. It is an extra and slow to load: only `planwire mcp` imports it.
"""

from planwire.errors import MissingExtra

try:
    import mcp  # noqa: F401
except ImportError:
    raise MissingExtra("the MCP server needs the MCP SDK: pip install 'planwire[mcp]'") from None

from planwire.mcp.server import serve

__all__ = ["serve"]
