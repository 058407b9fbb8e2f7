"""The handoffs of one relay: a folder that only the user can read, with a file for each server of the plan tools."""

import shutil
import sys
import tempfile
from pathlib import Path

from planwire.errors import InputError, reason
from planwire.extras import need_of
from planwire.journal.engines import shared_url
from planwire.relay.actions import Bind
from planwire.relay.server_files import configured_servers
from planwire.relay.tools import ToolServer
from planwire.session.handoff import Handoff, is_taken_up, write_handoff
from planwire.session.recording_mark import MARK, RecordingMark

__all__ = ["Handoffs"]


class Handoffs:
    """Hands the sessions of the journal at a URL to the servers that agents start. The folder goes with the relay."""

    def __init__(self, url: str | None) -> None:
        journal = shared_url(url)
        if journal is None:
            raise InputError("they run in another process, which can't read a journal in memory. Give --journal a file")
        if need := need_of("mcp"):
            raise InputError(f"their server {need}")
        self._journal = journal
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="planwire-"))
        except OSError as error:
            raise InputError(f"no temporary folder could be made: {reason(error)}") from None

    @property
    def server(self) -> ToolServer:
        """This Python, with this planwire. `-P` keeps Python from importing modules in the session's folder."""
        arguments = ("-P", "-m", "planwire", "mcp", "--binding")
        return ToolServer(sys.executable, arguments, str(self._folder), self._is_connected, configured_servers)

    def _is_connected(self, key: str) -> bool:
        return is_taken_up(self._folder / key)

    def mark(self) -> RecordingMark | None:
        """A file that shows the servers how far the relay has come with recording; None if there can't be one."""
        try:
            return RecordingMark(self._folder / MARK)
        except (OSError, ValueError):
            return None

    def write(self, bind: Bind) -> None:
        """Hand over a session, or say why there is none."""
        handoff = Handoff(self._journal, bind.session, bind.folder, bind.told, bind.problem)
        write_handoff(self._folder / bind.key, handoff)

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
