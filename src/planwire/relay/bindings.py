"""The files by which an MCP server that an agent started learns its session: one each, in a folder of the user's own.

What they hold is for the user alone, and is nowhere else: a command line can be read by everybody, and agents write the
servers of their sessions into logs. They are gone when the relay is.
"""

import shutil
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import msgspec
from msgspec import Struct

from planwire.errors import InputError
from planwire.journal.urls import shared_url
from planwire.relay.actions import Bind
from planwire.relay.tools import ToolServer

__all__ = ["Binding", "Bindings", "read_binding"]


class Binding(Struct, frozen=True, omit_defaults=True):
    """What a binding says: the session and its journal, or what is wrong. `told` is the revision up to which the client
    was told of the tools' plans."""

    journal: str
    session: str | None = None
    folder: str | None = None
    told: int = 0
    problem: str | None = None


def read_binding(path: Path) -> Binding | None:
    """What a binding says by now; None if it says nothing yet, or never will."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Binding)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


class Bindings:
    """The bindings of one relay, to sessions in the journal that a URL names."""

    def __init__(self, url: str | None) -> None:
        journal = shared_url(url)
        if journal is None:
            raise InputError("the tools write from another process, and a journal in memory is only ours. Name a file")
        if find_spec("mcp") is None:
            raise InputError("they need the MCP SDK: pip install 'planwire[mcp]'")
        self._journal = journal
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="planwire-"))
        except OSError as error:
            raise InputError(f"there is no room for temporary files: {error.strerror or error}") from None

    @property
    def server(self) -> ToolServer:
        """This Python, with this planwire. `-P`: what is in the folder of the session is not imported."""
        return ToolServer(sys.executable, ("-P", "-m", "planwire", "mcp", "--binding"), str(self._folder))

    def write(self, bind: Bind) -> None:
        """Say what a binding says from now on. If that can't be done, the tools say that they have no session."""
        binding = Binding(self._journal, bind.session, bind.folder, bind.told, bind.problem)
        draft = self._folder / f"{bind.key}.new"
        with suppress(OSError):
            draft.write_bytes(msgspec.json.encode(binding))
            draft.replace(self._folder / bind.key)

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
