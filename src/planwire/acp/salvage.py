"""The lenient reader: a JSON value in, its usable parts out, and a report for each defect.

A bad entry does not cost the others, a bad field does not cost its entry, and fields that planwire does not know are
kept so that the writer can put them back (R21).
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, Raw
from msgspec.structs import replace

from planwire.acp.dialects import id_keys
from planwire.acp.messages import Envelope, Extension, Message, Removal, Report, Update
from planwire.model.kinds import KINDS
from planwire.model.plan import MEDIUM, Entry, Fields, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan, PlanId
from planwire.model.statuses import DEFAULT_STATUS

#: The most entries of one plan; the rest is reported. Real plans have dozens; 20,000 still take under a second.
MAX_ENTRIES: Final = 20_000
#: Depth to which `_meta` and unknown fields may nest. Comparing and encoding recurse, and Python stops at about 1,000.
MAX_NESTING: Final = 200
#: The most reports on one line. After a hundred defects another one says nothing new.
MAX_REPORTS: Final = 100

#: Characters of a value in a report: enough to recognise it, and a report stays one line.
_EXCERPT_LENGTH: Final = 60
#: The outcome of an update without a usable plan.
_NOTHING_CHANGES: Final = "nothing changes"


class Reports:
    """The reports of one line, up to `MAX_REPORTS`."""

    def __init__(self) -> None:
        self.made: list[Report] = []

    def add(self, code: str, where: str, defect: str, rule: str | None = None, outcome: str = "") -> None:
        if len(self.made) < MAX_REPORTS:
            self.made.append(Report(code, where.removeprefix("."), defect, rule, outcome))


def excerpt(value: Any) -> str:
    """The beginning of a value, for a report."""
    text = value if isinstance(value, str) else _encoded(value).decode()
    return text if len(text) <= _EXCERPT_LENGTH else f"{text[:_EXCERPT_LENGTH]}…"


def salvage(value: Any, reports: Reports, path: str = "") -> Update | Message | None:
    """Read a message, or a bare update as specifications print them. Takes the value's dicts apart."""
    if not isinstance(value, dict):
        reports.add("not-a-message", path, f"expected a JSON object, found {excerpt(value)}")
        return None
    if "method" not in value and "sessionUpdate" in value:
        reader = _reader(value)
        return reader(None, value, Envelope(bare=True, at=path), path, reports) if reader else _message(value)
    params: Any = value.get("params")
    update: Any = params.get("update") if isinstance(params, dict) else None
    reader = _reader(update) if value.get("method") == "session/update" else None
    if reader is None:
        return _message(value)
    del value["method"], value["params"], params["update"]
    session = params.pop("sessionId", None)
    if not isinstance(session, str):
        found = excerpt(session)
        reports.add("bad-session", f"{path}.params.sessionId", f"expected the id of a session, found {found}")
        session = None if session is None else found
    if value.get("jsonrpc") == "2.0":
        del value["jsonrpc"]
    envelope = Envelope(None, _extra(params, f"{path}.params", reports), _extra(value, path, reports), at=path)
    return reader(session, update, envelope, f"{path}.params.update", reports)


_Reader: TypeAlias = Callable[[str | None, Fields, Envelope, str, Reports], Update]


def _reader(update: Any) -> _Reader | None:
    tag = update.get("sessionUpdate") if isinstance(update, dict) else None
    return _READERS.get(tag) if isinstance(tag, str) else None


def _message(value: Fields) -> Message:
    """A message that is not about plans, with its parts as JSON text again."""
    method, message_id = value.get("method"), value.get("id", UNSET)
    return Message(
        method if isinstance(method, str) else None,
        message_id if message_id is None or isinstance(message_id, (int, float, str)) else UNSET,
        Raw(_encoded(value.get("params"))),
        Raw(_encoded(value["result"])) if "result" in value else UNSET,
        Raw(_encoded(value["error"])) if "error" in value else UNSET,
    )


def _encoded(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except RecursionError:
        return b"null"


def _plan(session: str | None, update: Fields, envelope: Envelope, path: str, reports: Reports) -> Update:
    del update["sessionUpdate"]
    return Update(session, "plan", _items(None, update, path, reports), (), envelope)


def _plan_update(session: str | None, update: Fields, envelope: Envelope, path: str, reports: Reports) -> Update:
    del update["sessionUpdate"]
    plan = update.pop("plan", None)
    body: Plan | Extension | None = None
    id_keys: tuple[str, ...] = ()
    if isinstance(plan, dict):
        plan_id, id_keys = _take_id(plan, f"{path}.plan", reports)
        if plan_id is None:
            outcome = "it is read as the plan without an id"
            reports.add("no-plan-id", f"{path}.plan.planId", "a plan_update must name its plan", "R11", outcome)
        body = _content(plan_id, plan, f"{path}.plan", reports)
        if isinstance(body, MarkdownPlan) and not body.content:
            body, update = _with_streamed_text(body, update)
    else:
        reports.add("no-plan", f"{path}.plan", f"expected a plan, found {excerpt(plan)}", "R22", _NOTHING_CHANGES)
    return Update(session, "plan_update", body, id_keys, replace(envelope, update=_extra(update, path, reports)))


def _plan_removed(session: str | None, update: Fields, envelope: Envelope, path: str, reports: Reports) -> Update:
    del update["sessionUpdate"]
    plan_id, id_keys = _take_id(update, path, reports)
    if plan_id is None:
        reports.add("no-plan-id", f"{path}.planId", "a removal must name its plan", "R11", _NOTHING_CHANGES)
    body = None if plan_id is None else Removal(plan_id)
    return Update(session, "plan_removed", body, id_keys, replace(envelope, update=_extra(update, path, reports)))


_READERS = {"plan": _plan, "plan_update": _plan_update, "plan_removed": _plan_removed}


def _take_id(fields: Fields, path: str, reports: Reports) -> tuple[PlanId, tuple[str, ...]]:
    """Take the id out of a plan's fields, whichever key holds it. A second id that differs stays among the fields."""
    found: dict[str, str] = {}
    for key in id_keys():
        value = fields.get(key)
        if isinstance(value, str):
            found[key] = fields.pop(key)
            if not value:
                reports.add("bad-plan-id", f"{path}.{key}", "an empty text names no plan", "R11", "it is read as one")
        elif value is not None:
            found[key] = excerpt(fields.pop(key))
            defect = f"expected a string, found {excerpt(value)}"
            reports.add("bad-plan-id", f"{path}.{key}", defect, "R11", "it is read as one")
    used = next(iter(found), "")
    for key in [key for key in found if found[key] != found[used]]:
        fields[key] = found.pop(key)
        defect = f"{used} is {excerpt(found[used])!r} and {key} is {excerpt(fields[key])!r}"
        reports.add("two-plan-ids", f"{path}.{key}", defect, outcome=f"{used} is used")
    return found.get(used), tuple(found)


def _content(plan_id: PlanId, fields: Fields, path: str, reports: Reports) -> Plan | None:
    """The plan itself, by its type: an unknown type whole (R23), None for a known one with unusable content (R22)."""
    plan_type = fields.pop("type", None)
    if not isinstance(plan_type, str):
        guess = next((name for key, name in _TYPE_OF_FIELD.items() if key in fields), None)
        outcome = f"it is read as {guess}" if guess else _NOTHING_CHANGES
        defect = f"expected the type of the plan, found {excerpt(plan_type)}"
        reports.add("no-plan-type", f"{path}.type", defect, "R22", outcome)
        if guess is None:
            return None
        plan_type = guess
    reader = _CONTENT_READERS.get(plan_type)
    if reader is None:
        return OtherPlan(plan_id, plan_type, _bounded(fields, path, reports))
    return reader(plan_id, fields, path, reports)


#: Plan types by the field that gives each away, for senders that forgot to name the type.
_TYPE_OF_FIELD = {row.field: row.name for row in KINDS.values() if row.field is not None}


def _items(plan_id: PlanId, fields: Fields, path: str, reports: Reports) -> ItemsPlan | None:
    entries = fields.pop("entries", UNSET)
    if not isinstance(entries, list):
        found = "nothing" if entries is UNSET else excerpt(entries)
        defect = f"expected a list, found {found}"
        reports.add("entries-not-a-list", f"{path}.entries", defect, "R6", "the plan stays as it was")
        return None
    if len(entries) > MAX_ENTRIES:
        outcome = f"only the first {MAX_ENTRIES:,} are kept"
        reports.add("too-many-entries", f"{path}.entries", f"found {len(entries):,}", outcome=outcome)
        entries = entries[:MAX_ENTRIES]
    kept = [_entry(entry, f"{path}.entries[{index}]", reports) for index, entry in enumerate(entries)]
    return ItemsPlan(plan_id, tuple(kept), _take_meta(fields, path, reports), _extra(fields, path, reports))


def _markdown(plan_id: PlanId, fields: Fields, path: str, reports: Reports) -> MarkdownPlan | None:
    content = fields.pop("content", None)
    if not isinstance(content, str):
        defect = f"expected a text, found {excerpt(content)}"
        reports.add("content-not-text", f"{path}.content", defect, "R22", _NOTHING_CHANGES)
        return None
    return MarkdownPlan(plan_id, content, _take_meta(fields, path, reports), _extra(fields, path, reports))


def _file(plan_id: PlanId, fields: Fields, path: str, reports: Reports) -> FilePlan | None:
    uri = fields.pop("uri", None)
    if not isinstance(uri, str):
        reports.add("uri-not-text", f"{path}.uri", f"expected a URI, found {excerpt(uri)}", "R22", _NOTHING_CHANGES)
        return None
    if "://" not in uri:
        reports.add("uri-not-absolute", f"{path}.uri", f"{excerpt(uri)!r} is not absolute: it can't be opened", "R25")
    return FilePlan(plan_id, uri, _take_meta(fields, path, reports), _extra(fields, path, reports))


_CONTENT_READERS: dict[str, Callable[[PlanId, Fields, str, Reports], Plan | None]] = {
    ItemsPlan.kind: _items,
    MarkdownPlan.kind: _markdown,
    FilePlan.kind: _file,
}


def _with_streamed_text(plan: MarkdownPlan, update: Fields) -> tuple[MarkdownPlan | Extension, Fields]:
    """JetBrains AIR sends empty content and the new text in `_meta`: an extension of the plan, not its end."""
    match update:
        case {"_meta": {"jetbrains": {"air": {"contentDelta": str(text)} as air} as jetbrains} as meta}:
            meta = {**meta, "jetbrains": {**jetbrains, "air": _without(air, "contentDelta")}}
            return Extension(plan.id, text), {**update, "_meta": meta}
    return plan, update


def _entry(entry: Any, path: str, reports: Reports) -> Entry:
    if isinstance(entry, str):
        defect = f"expected an entry, found the text {excerpt(entry)!r}"
        reports.add("entry-not-an-object", path, defect, "R6", "it is kept")
        return Entry(entry, None, DEFAULT_STATUS)
    if not isinstance(entry, dict):
        defect = f"expected an entry, found {excerpt(entry)}"
        reports.add("entry-not-an-object", path, defect, "R6", "it is kept as text")
        return Entry(_as_text(entry), None, DEFAULT_STATUS)
    content = entry.get("content")
    if not isinstance(content, str):
        defect = f"expected a text, found {excerpt(content)}"
        reports.add("no-content", f"{path}.content", defect, "R6", "the entry is kept as its JSON")
        content = _as_text(entry)
    entry.pop("content", None)
    priority = _word(entry, "priority", MEDIUM, path, reports)
    status = _word(entry, "status", DEFAULT_STATUS, path, reports)
    if status is None:
        status = DEFAULT_STATUS
    if not entry:
        return Entry(content, priority, status)
    return Entry(content, priority, status, _take_meta(entry, path, reports), _extra(entry, path, reports))


def _word(fields: Fields, name: str, instead: str, path: str, reports: Reports) -> str | None:
    value = fields.pop(name, UNSET)
    if isinstance(value, str):
        return value
    found = "nothing" if value is UNSET else excerpt(value)
    reports.add(f"no-{name}", f"{path}.{name}", f"expected a {name}, found {found}", "R6", f"it counts as {instead}")
    return None


def _as_text(value: Any) -> str:
    return _encoded(value).decode()


def _take_meta(fields: Fields, path: str, reports: Reports) -> Fields | None:
    """Take `_meta` out of the fields. If it is not an object it stays among them, so that the writer puts it back."""
    meta = fields.pop("_meta", None)
    if meta is None or isinstance(meta, dict):
        return meta and _bounded(meta, f"{path}._meta", reports)
    fields["_meta"] = meta
    defect = f"expected an object, found {excerpt(meta)}"
    reports.add("bad-meta", f"{path}._meta", defect, outcome="it is kept as it is")
    return None


def _without(fields: Fields, name: str) -> Fields:
    return {key: value for key, value in fields.items() if key != name}


def _extra(fields: Fields, path: str, reports: Reports) -> Fields | None:
    return (_bounded(fields, path, reports) or None) if fields else None


def _bounded(fields: Fields, path: str, reports: Reports) -> Fields:
    """The fields, without those that nest too deeply to handle safely. Each of those is reported."""
    for key in [key for key, value in fields.items() if not _nesting_is_safe(value)]:
        defect = f"nested more than {MAX_NESTING} levels deep"
        reports.add("too-deep", f"{path}.{key}", defect, outcome="it is left out")
        fields = _without(fields, key)
    return fields


def _nesting_is_safe(value: Any) -> bool:
    if not isinstance(value, (dict, list)):
        return True
    level = [value]
    for _ in range(MAX_NESTING):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return True
    return False
