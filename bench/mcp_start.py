"""How long a host waits for `planwire mcp` to answer `initialize`, compared with an empty server of the official SDK.

Timed from the start of the process, since a host starts the server for each conversation. Medians over medians.
"""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from bench.figure import Cell, Figure, at_most
from bench.processes import time_answers

__all__ = ["measure"]

ROUNDS = 20
#: As little as a server can be: a name, and its pipes.
BARE: Final = """\
import anyio
from mcp import stdio_server
from mcp.server.lowlevel import Server

server = Server("bare")


async def main():
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


anyio.run(main)
"""
CLIENT: Final = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
REQUEST: Final = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT}


def measure() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal.db"
        programs = {
            "bare server of the SDK": ("-c", BARE),
            "planwire mcp": ("-m", "planwire", "mcp", "--journal", str(journal)),
        }
        rounds = time_answers(programs, ROUNDS, json.dumps(REQUEST).encode() + b"\n")
    bare, ours = (median(taken[name] for taken in rounds) for name in programs)
    yield Figure("mcp_initialize_sdk_ms", bare * 1_000, "ms", cell=Cell("bare server of the SDK", "until initialize"))
    yield Figure("mcp_initialize_ms", ours * 1_000, "ms", cell=Cell("planwire mcp", "until initialize"))
    yield Figure("mcp_initialize_vs_sdk", ours / bare, "x", at_most(1.15))
