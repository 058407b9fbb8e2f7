"""File plans, followed on disk: which file a URI means, and what is in it now.

An agent names the file, so planwire reads only a markdown file inside the folders of the session, as
`plan_files.read_plan_file` says. A file that it can't read is a problem to show, never an error.
"""

from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from planwire.errors import ToolError
from planwire.model.fold import SessionState
from planwire.model.plan import FilePlan, MarkdownPlan, PlanId
from planwire.model.steps import PlanState, track
from planwire.readmodel.file_text import FileText
from planwire.tools.plan_files import read_plan_file

__all__ = ["FilePlans", "path_of"]

#: Files to remember, so that their steps keep their ids.
REMEMBERED: Final = 2_000


def path_of(uri: str) -> str:
    """The path that a `file:` URI of this machine names. `ValueError` says why it names none."""
    parts = urlsplit(uri)
    if parts.scheme.lower() != "file":
        raise ValueError("it is not a file: address")
    if parts.netloc.lower() not in ("", "localhost"):
        raise ValueError("it is on another machine")
    if parts.query or parts.fragment:
        raise ValueError("a file: address with ? or # names no file")
    path = unquote(parts.path, errors="strict")
    if not path.startswith("/") or "\0" in path:
        raise ValueError("it names no absolute path")
    return path


class FilePlans:
    """The files of all sessions. Every session may read from `folders`, beside its own folder."""

    def __init__(self, folders: Iterable[str | Path] = ()) -> None:
        self._folders = tuple(str(folder) for folder in folders)
        self._seen: OrderedDict[tuple[str, PlanId], tuple[object, FileText]] = OrderedDict()

    def of(self, session: SessionState) -> dict[PlanId, FileText]:
        """The files of a session now. One that has not changed is the same value as before."""
        cwd = session.opened.cwd if session.opened else None
        return {
            plan_id: self._look(session.id, record.state.plan, cwd)
            for plan_id, record in session.live().items()
            if isinstance(record.state.plan, FilePlan)
        }

    def _look(self, session: str, plan: FilePlan, cwd: str | None) -> FileText:
        key = (session, plan.id)
        before, known = self._seen.get(key, (None, None))
        try:
            path = path_of(plan.uri)
        except ValueError as error:
            return FileText(plan.uri, None, problem=f"This plan can't be shown: {error}.")
        signature = (plan.uri, cwd, *_signature(path))
        if known is not None and before == signature:
            return known
        text = self._read(plan, path, cwd, known.state if known else None)
        if known is not None and text == known:
            text = known
        self._seen[key] = (signature, text)
        self._seen.move_to_end(key)
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return text

    def _read(self, plan: FilePlan, path: str, cwd: str | None, before: PlanState | None) -> FileText:
        own = (cwd,) if cwd and Path(cwd).is_absolute() and "\0" not in cwd else ()
        try:
            content = read_plan_file(path, (*own, *self._folders))
        except ToolError as error:
            return FileText(plan.uri, path, before, f"{error}.")
        return FileText(plan.uri, path, track(MarkdownPlan(plan.id, content), before))


def _signature(path: str) -> tuple[object, ...]:
    """A value that differs once a file has changed."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
