"""Rows of agents that planwire learned on this machine: one file each, in the user's settings folder."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from planwire.errors import InputError, reason
from planwire.relay.agents import AgentRow

#: The most characters of an agent's name in its file's name.
_LONGEST: Final = 80


def rows_folder() -> Path:
    """The folder with the rows: `planwire/agents` in the user's settings folder."""
    if os.name == "nt":
        base = Path(os.environ.get("APPDATA") or Path.home())
    else:
        base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return base / "planwire" / "agents"


def learned_rows(warn: Callable[[str], None]) -> list[AgentRow]:
    """The rows, in the order of their files' names. One that can't be read is left out with a warning."""
    rows: list[AgentRow] = []
    try:
        files = sorted(rows_folder().glob("*.json"))
    except (OSError, RuntimeError):  # no such folder, or no home
        return rows
    for file in files:
        try:
            rows.append(msgspec.json.decode(file.read_bytes(), type=AgentRow))
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            warn(f"{file} is left out: {error}. `planwire check --learn` writes it anew")
    return rows


def keep_row(row: AgentRow) -> Path:
    """Write a row for the relay to read. Returns its file."""
    name = re.sub(r"[^a-z0-9.]+", "-", row.agent.lower())[:_LONGEST].strip("-.") or "agent"
    file = rows_folder() / f"{name}.json"
    text = msgspec.json.format(msgspec.json.encode(row), indent=2) + b"\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".new")
        draft.write_bytes(text)
        draft.replace(file)
    except OSError as error:
        raise InputError(f"{file} can't be written: {reason(error)}") from None
    return file
