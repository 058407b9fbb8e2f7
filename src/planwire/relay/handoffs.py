"""The handoffs of one relay: a folder that only the user can read, with a file for each server of the plan tools.

The files name the journal with its password. A relay that is killed leaves its folder behind; the next one that starts
sweeps it away.
"""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from stat import S_ISDIR
from typing import Final

from planwire.errors import InputError, reason
from planwire.extras import need_of
from planwire.journal.engines import shared_url
from planwire.journal.lock_files import LockFile, sweep
from planwire.own_process import own_command
from planwire.relay.actions import Bind
from planwire.relay.server_files import configured_servers
from planwire.relay.tools import ToolServer
from planwire.session.handoff import Handoff, is_taken_up, write_handoff
from planwire.session.recording_mark import MARK, RecordingMark

_PREFIX: Final = "planwire-relay-"
#: The folder with the lock file of the relay, in the folder of its handoffs.
_LOCK: Final = "lock"


class Handoffs:
    """Hands the sessions of the journal at a URL to the servers that agents start. The folder goes with the relay."""

    def __init__(self, url: str | None) -> None:
        journal = shared_url(url)
        if journal is None:
            raise InputError("they run in another process, which can't read a journal in memory. Give --journal a file")
        if need := need_of("mcp"):
            raise InputError(f"their server {need}")
        self._journal = journal
        _sweep_others()
        try:
            self._folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
            self._lock = LockFile(self._folder / _LOCK)
        except OSError as error:
            raise InputError(f"no temporary folder could be made: {reason(error)}") from None

    @property
    def server(self) -> ToolServer:
        """This Python, with this planwire."""
        program, *arguments = own_command("mcp", "--binding")
        return ToolServer(program, tuple(arguments), str(self._folder), self._is_connected, configured_servers)

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
        self._lock.remove()
        shutil.rmtree(self._folder, ignore_errors=True)


def _sweep_others() -> None:
    """Remove the folders of this user's relays that are gone."""
    with suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            with suppress(OSError):
                if _is_own(folder) and (folder / _LOCK).exists():
                    sweep(folder / _LOCK)
                    if not (folder / _LOCK).exists():
                        shutil.rmtree(folder, ignore_errors=True)


def _is_own(folder: Path) -> bool:
    found = folder.lstat()  # a link may lead anywhere
    return S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())
