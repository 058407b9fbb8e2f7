"""The relays that planwire's is compared with: `python -m bench.relay_peers pump|sdk COMMAND ...`.

`pump` does the least that a relay in Python can do: two threads that split lines and pass them on. `sdk` is a relay
built on the official Python SDK: its connections on both sides, every update decoded into its model and encoded again.
"""

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

_CHUNK = 64 * 1024
_LONGEST_LINE = 64 * 1024 * 1024


def pump(command: list[str]) -> int:
    agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert agent.stdin is not None
    assert agent.stdout is not None
    Thread(target=_carry, args=(0, agent.stdin.fileno()), daemon=True).start()
    _carry(agent.stdout.fileno(), 1)
    return agent.wait()


def _carry(source: int, target: int) -> None:
    held = b""
    while chunk := os.read(source, _CHUNK):
        *lines, held = (held + chunk).split(b"\n")
        if lines:
            view = memoryview(b"".join([line + b"\n" for line in lines]))
            while view:
                view = view[os.write(target, view) :]
    os.close(target)


async def sdk(command: list[str]) -> None:
    from acp import spawn_stdio_transport, stdio_streams
    from acp.connection import Connection
    from acp.schema import SessionNotification
    from acp.utils import serialize_params

    async def from_agent(method: str, params: Any, _is_notification: bool) -> None:
        if method == "session/update":
            params = serialize_params(SessionNotification.model_validate(params))
        await client.send_notification(method, params)

    async def from_client(method: str, params: Any, is_notification: bool) -> Any:
        if is_notification:
            return await agent.send_notification(method, params)
        return await agent.send_request(method, params)

    async with spawn_stdio_transport(
        command[0], *command[1:], env=os.environ, cwd=Path.cwd(), stderr=None, limit=_LONGEST_LINE
    ) as (reader, writer, _):
        own_reader, own_writer = await stdio_streams(limit=_LONGEST_LINE)
        agent = Connection(from_agent, writer, reader)
        client = Connection(from_client, own_writer, own_reader, listening=False)
        await client.main_loop()


if __name__ == "__main__":
    if sys.argv[1] == "pump":
        sys.exit(pump(sys.argv[2:]))
    import asyncio

    asyncio.run(sdk(sys.argv[2:]))
