"""The pages as JSON, for programs: nothing left out, nothing made pretty."""

from typing import Any, Final

from msgspec.structs import asdict

from planwire.model.diff import compare
from planwire.model.fold import PlanRecord, SessionState
from planwire.model.plan import PlanId
from planwire.readmodel.followed_files import FileText
from planwire.readmodel.history import HistoryEntry
from planwire.readmodel.overview import Overview
from planwire.readmodel.sessions import ShownSession
from planwire.web.addresses import plan_address, session_address

__all__ = ["difference_json", "entry_json", "glance_json", "plan_json", "session_json", "state_json"]

#: Fields of a plan that are not its content.
_NOT_OF_CONTENT: Final = ("id", "extra")


def glance_json(glance: Overview) -> dict[str, Any]:
    """A session at a glance."""
    return {**asdict(glance), "address": session_address(glance.id)}


def session_json(session: ShownSession) -> dict[str, Any]:
    """A session with all its plans."""
    return {**glance_json(session.glance), "plans": _plans(session.state, session.files)}


def state_json(state: SessionState) -> dict[str, Any]:
    """A session as it was at some moment."""
    return {"id": state.id, "seq": state.seq, "stopped": state.stopped, "plans": _plans(state, {})}


def _plans(state: SessionState, files: dict[PlanId, FileText]) -> list[dict[str, Any]]:
    return [plan_json(state.id, record, files.get(plan_id)) for plan_id, record in state.plans.items()]


def plan_json(session: str, record: PlanRecord, file: FileText | None) -> dict[str, Any]:
    """A plan, its steps, and everything else about it."""
    plan, progress = record.state.plan, record.state.progress
    value: dict[str, Any] = {
        "id": plan.id,
        "address": plan_address(session, plan.id),
        "kind": "file" if file is not None else plan.kind,
        "removed": record.removed,
        "owner": record.owner,
        "version": record.version,
        "revision": record.revision,
        "created_at": record.created_at,
        "changed_at": record.changed_at,
        "mode": record.mode or None,
        "summary": record.summary,
        "progress": {name: count for name, count in asdict(progress).items() if name != "current"},
        "current": [step.id for step in progress.current],
        "steps": [asdict(step) for step in record.state.steps],
        "changes": record.deltas,
        "wishes": record.suggestions,
        "reviews": [{**asdict(review), "stale": record.is_stale(review)} for review in record.reviews],
        "asked": record.asked,
    }
    content = {name: each for name, each in asdict(plan).items() if name not in _NOT_OF_CONTENT}
    value |= {"_meta" if name == "meta" else name: each for name, each in content.items()}
    if file is not None:
        value |= {"uri": file.uri, "path": file.path, "problem": file.problem}
    return value


def entry_json(entry: HistoryEntry) -> dict[str, Any]:
    """One change of a session's history."""
    return {**asdict(entry), "words": [asdict(phrase) for phrase in entry.words]}


def difference_json(before: SessionState, after: SessionState) -> list[dict[str, Any]]:
    """The change of every plan between two moments."""
    found = []
    for plan_id, record in after.plans.items():
        old = before.plans.get(plan_id)
        value: dict[str, Any] = {"id": plan_id, "new": old is None, "removed": record.removed}
        diff = asdict(compare(old.state if old else None, record.state))
        found.append({**value, **{kind: changes for kind, changes in diff.items() if kind != "frame"}})
    return found
