"""Plan files, followed on disk: the file that a URI names, and its current text.

An agent names the file, so planwire reads only a markdown file of a session that runs on this machine and account,
inside folders that were named here (`session.named_folders`), as `plan_files.read_plan_file` says. A file that it can't
read is a problem to show, never an exception.
"""

from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import Final

from planwire.errors import ToolError
from planwire.model.file_texts import address_of, state_with_text
from planwire.model.plan import PlanId
from planwire.model.records import SessionState
from planwire.model.steps import PlanState
from planwire.readmodel.file_text import FileText
from planwire.session.named_folders import folders_above
from planwire.session.origin import is_ours
from planwire.tools.plan_files import path_of, read_plan_file

__all__ = ["FilePlans", "path_of"]

#: Files to remember, so that their steps keep their ids.
REMEMBERED: Final = 2_000
_ELSEWHERE: Final = "This plan's file is on the machine and account that its session runs on: look at it there."


class FilePlans:
    """The files of all sessions. Every session of this machine may also read from `folders`. Thread-safe."""

    def __init__(self, folders: Iterable[str | Path] = ()) -> None:
        self._folders = tuple(str(folder) for folder in folders)
        self._lock = Lock()
        self._seen: OrderedDict[tuple[str, PlanId], tuple[object, FileText]] = OrderedDict()

    def of(self, session: SessionState) -> dict[PlanId, FileText]:
        """The files of a session now, also of removed plans, which keep their titles. A file that has not changed is
        the same object as before."""
        states = (record.state for record in session.plans.values())
        uris = [(state, uri) for state in states if (uri := address_of(state.plan)) is not None]
        if not uris:
            return {}
        with self._lock:
            return {state.plan.id: self._look(session, state, uri) for state, uri in uris}

    def _look(self, session: SessionState, state: PlanState, uri: str) -> FileText:
        if session.opened and not is_ours(session.opened):
            return FileText(uri, None, problem=_ELSEWHERE)
        key = (session.id, state.plan.id)
        before, known = self._seen.get(key, (None, None))
        try:
            path = path_of(uri)
        except ValueError as error:
            return FileText(uri, None, problem=f"This plan can't be shown: {error}.")
        folders: tuple[str | Path, ...] = (*folders_above(path), *self._folders)
        signature = (uri, state.steps, folders, *(_signature(path) if folders else ()))
        if known is not None and before == signature:
            return known
        text = self._read(state, uri, path, folders, known.state if known else None)
        if known is not None and text == known:
            text = known
        self._seen[key] = (signature, text)
        self._seen.move_to_end(key)
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return text

    def _read(
        self, state: PlanState, uri: str, path: str, folders: Iterable[str | Path], before: PlanState | None
    ) -> FileText:
        try:
            content = read_plan_file(path, folders)
        except ToolError as error:
            return FileText(uri, path, before, f"{error}.")
        return FileText(uri, path, state_with_text(state, lambda _: content, before))


def _signature(path: str) -> tuple[object, ...]:
    """A value that changes when a file does."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
