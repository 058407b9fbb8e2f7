"""What the property tests are fed with: plans, lines that carry them, lines that nearly do, and markdown.

Three grades of material:

- *values* (`entries`, `plans`, `updates_for`): what planwire itself holds, always whole;
- *clean JSON*, made from these by `planwire.write`;
- *nearly plans* (`nearly_updates`, `nearly_messages`): the right keys, now and then missing or with the wrong thing in
  them, as agents in the wild send them.

Importing this module chooses the settings: the same examples on every run, unless HYPOTHESIS_PROFILE says "hunt",
which looks for new ones, HYPOTHESIS_EXAMPLES many.
"""

import json
import os
import random
from collections.abc import Iterator
from functools import cache
from math import factorial
from typing import Any, TypeAlias

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from planwire.acp import Dialect, Envelope, Removal, Update
from planwire.model.plan import Entry, Fields, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan

settings.register_profile(
    "same",
    max_examples=100,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
)
settings.register_profile(
    "hunt",
    max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "2000")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

#: For tests that are run once for every dialect.
a_third_each = settings(max_examples=settings().max_examples // 3)

Json: TypeAlias = Any

# Text and JSON

#: Any text that JSON can carry: no half of a surrogate pair.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)

json_values: SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(texts, children, max_size=3),
    max_leaves=4,
)
objects: SearchStrategy[Fields] = st.dictionaries(texts, json_values, max_size=3)

#: Names that mean something somewhere, to be met where they mean nothing; two are planwire's own stand-ins.
_MEANINGFUL_NAMES = (
    *("_meta", "content", "entries", "extra", "id", "jsonrpc", "kind", "messageId", "meta", "method", "params", "plan"),
    *("planId", "planwire", "priority", "result", "sessionId", "sessionUpdate", "status", "text", "timestamp", "title"),
    *("type", "update", "uri", "\x7fentries", "\x7fextra"),
)


def fields_beside(*taken: str) -> SearchStrategy[Fields | None]:
    """Fields that the protocol does not define, next to those that are taken; None for none."""
    names = (st.sampled_from(_MEANINGFUL_NAMES) | texts).filter(lambda name: name not in taken)
    return st.none() | st.dictionaries(names, json_values, min_size=1, max_size=2)


#: The fields of a plan of any kind.
PLAN_FIELDS = ("type", "planId", "id", "entries", "content", "uri", "_meta")

# Values: entries, plans, updates

CLOSED_PRIORITIES = ("high", "medium", "low")
CLOSED_STATUSES = ("pending", "in_progress", "completed")
priorities = st.sampled_from(CLOSED_PRIORITIES)
statuses = st.sampled_from(CLOSED_STATUSES)
open_priorities = priorities | st.sampled_from(("_urgent", "urgent", "")) | texts
open_statuses = statuses | st.sampled_from(("cancelled", "_blocked", "done", "canceled", "in progress", "")) | texts

#: Few words, so that texts of one plan are often alike, now and then the same.
_WORDS = (
    "add",
    "check",
    "docs",
    "find",
    "fix",
    "for",
    "Grüße",
    "parser",
    "read",
    "reader",
    "run",
    "tests",
    "the",
    "write",
)
phrases = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=5).map(" ".join)
contents = phrases | texts


def entries(
    priorities: SearchStrategy[str | None] = st.none() | open_priorities, statuses: SearchStrategy[str] = open_statuses
) -> SearchStrategy[Entry]:
    """Entries with whatever may stand in one."""
    extra = fields_beside("content", "priority", "status", "_meta")
    plain = st.builds(Entry, contents, priorities, statuses)
    return plain | st.builds(Entry, contents, priorities, statuses, st.none() | objects, extra)


v1_entries = entries(priorities, statuses)
v2_entries = entries(open_priorities, open_statuses)

PLAN_IDS = ("main", "p", "q", "")
plan_ids = st.sampled_from(PLAN_IDS) | texts
uris = texts.map("file:///".__add__)


def items_plans(ids: SearchStrategy[str | None], entries: SearchStrategy[Entry]) -> SearchStrategy[ItemsPlan]:
    lists = st.lists(entries, max_size=6).map(tuple)
    return st.builds(ItemsPlan, ids, lists) | st.builds(
        ItemsPlan, ids, lists, st.none() | objects, fields_beside("type", "planId", "id", "entries", "_meta")
    )


def baseline_plans(entries: SearchStrategy[Entry] = v1_entries) -> SearchStrategy[ItemsPlan]:
    """What the v1 `plan` update carries. Its fields stand beside `sessionUpdate`, so they can have other names."""
    lists = st.lists(entries, max_size=6).map(tuple)
    extra = fields_beside("sessionUpdate", "entries", "_meta")
    return st.builds(ItemsPlan, st.none(), lists) | st.builds(ItemsPlan, st.none(), lists, st.none() | objects, extra)


def markdown_plans(ids: SearchStrategy[str | None]) -> SearchStrategy[MarkdownPlan]:
    extra = fields_beside("type", "planId", "id", "content", "_meta")
    return st.builds(MarkdownPlan, ids, markdown_texts(), st.none() | objects, extra)


def file_plans(ids: SearchStrategy[str | None]) -> SearchStrategy[FilePlan]:
    extra = fields_beside("type", "planId", "id", "uri", "_meta")
    return st.builds(FilePlan, ids, uris, st.none() | objects, extra)


def other_plans(ids: SearchStrategy[str | None]) -> SearchStrategy[OtherPlan]:
    types = st.just("_tree") | texts.filter(lambda name: name not in ("items", "markdown", "file"))
    fields = fields_beside("type", "planId", "id").map(lambda fields: fields or {})
    return st.builds(OtherPlan, ids, types, fields)


def plans(
    ids: SearchStrategy[str | None] = st.none() | plan_ids, entries: SearchStrategy[Entry] = entries()
) -> SearchStrategy[Plan]:
    """All four kinds."""
    return items_plans(ids, entries) | markdown_plans(ids) | file_plans(ids) | other_plans(ids)


sessions = st.sampled_from(("s1", "s2"))


@cache
def updates_for(dialect: Dialect) -> SearchStrategy[Update]:
    """Updates that the dialect can say without changing anything in them."""
    entries = v1_entries if dialect.closed else v2_entries
    kinds: list[SearchStrategy[Update]] = []
    if dialect.baseline:
        kinds += _updates("plan", baseline_plans(entries), (), st.none())
    if dialect.operations:
        plan_updates = plans(plan_ids.filter(bool), entries)
        if not dialect.custom_types:
            plan_updates = plan_updates.filter(lambda plan: not isinstance(plan, OtherPlan))
        kinds += _updates("plan_update", plan_updates, dialect.id_keys, fields_beside("sessionUpdate", "plan"))
        removals = st.builds(Removal, plan_ids.filter(bool))
        beside = fields_beside("sessionUpdate", "planId", "id")
        kinds += _updates("plan_removed", removals, dialect.id_keys, beside)
    return st.one_of(kinds)


def _updates(
    tag: str,
    bodies: SearchStrategy[Any],
    id_keys: tuple[str, ...],
    beside: SearchStrategy[Fields | None],
) -> list[SearchStrategy[Update]]:
    envelope = st.builds(
        Envelope,
        beside,
        fields_beside("sessionId", "update"),
        fields_beside("jsonrpc", "method", "params"),
    )
    in_message = st.builds(Update, sessions | texts, st.just(tag), bodies, st.just(id_keys), envelope)
    bare = st.builds(Envelope, beside, bare=st.just(True))
    on_its_own = st.builds(Update, st.none(), st.just(tag), bodies, st.just(id_keys), bare)
    return [in_message, in_message, on_its_own.filter(_looks_like_no_message)]


def _looks_like_no_message(update: Update) -> bool:
    extra = update.body.extra if isinstance(update.body, ItemsPlan) else None
    return "method" not in {**(extra or {}), **(update.envelope.update or {})}


# Nearly plans: the right keys, the wrong things in them

_absent = object()


def nearly(right: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Mostly what is right, now and then any JSON, null, or nothing at all."""

    @st.composite
    def nearly_right(draw: st.DrawFn) -> Any:
        luck = draw(st.integers(0, 9))
        return draw(json_values) if luck == 9 else None if luck == 8 else _absent if luck == 7 else draw(right)

    return nearly_right()


def json_object(**fields: SearchStrategy[Any]) -> SearchStrategy[Fields]:
    """A JSON object of these fields, in any order."""

    @st.composite
    def an_object(draw: st.DrawFn) -> Fields:
        made = {name: draw(value) for name, value in fields.items()}
        names = [name for name, value in made.items() if value is not _absent]
        order = draw(st.integers(0, factorial(len(names)) - 1)) if len(names) > 1 else 0
        return {name: made[name] for name in _permuted(names, order)}

    return an_object()


def _permuted(names: list[str], order: int) -> Iterator[str]:
    """The names in the order of that number; 0 is as they are. It costs one draw, where `permutations` costs many."""
    while names:
        order, at = divmod(order, len(names))
        yield names.pop(at)


def sometimes(value: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.just(_absent) | st.just(_absent) | value


def with_fields(json_objects: SearchStrategy[Fields], *taken: str) -> SearchStrategy[Fields]:
    """Now and then with fields that nobody defined."""
    return json_objects | st.builds(lambda fields, more: fields | (more or {}), json_objects, fields_beside(*taken))


clean_entries_json = json_object(
    content=contents, priority=priorities, status=statuses, _meta=sometimes(st.none() | objects)
)
#: What a reader of v1 does not accept in each of the fields that it asks for.
_defects: dict[str, SearchStrategy[Json]] = {
    "content": st.none() | st.integers() | st.just([]),
    "priority": st.none() | st.sampled_from(("urgent", "_urgent", "", 1)),
    "status": st.none() | st.sampled_from(("cancelled", "done", "_blocked", "", 1)),
    "_meta": st.none() | st.sampled_from((1, "x", [])),
}


@st.composite
def entries_with_one_defect_json(draw: st.DrawFn) -> Fields:
    """An entry in which one field is missing or is not what v1 says."""
    entry = draw(clean_entries_json)
    name = draw(st.sampled_from(list(_defects)))
    if draw(st.booleans()):
        entry.pop(name, None)
    else:
        entry[name] = draw(_defects[name])
    return entry


nearly_entries_json: SearchStrategy[Json] = st.one_of(
    clean_entries_json,
    entries_with_one_defect_json(),
    with_fields(
        json_object(
            content=nearly(contents),
            priority=nearly(open_priorities),
            status=nearly(open_statuses),
            _meta=sometimes(nearly(objects)),
        )
    ),
    st.one_of(clean_entries_json, contents, json_values),
)


def entry_lists_json(entries: SearchStrategy[Json] = nearly_entries_json) -> SearchStrategy[list[Json]]:
    return st.lists(entries, max_size=5)


def plan_contents_json(
    ids: dict[str, SearchStrategy[Any]], entries: SearchStrategy[Json] = nearly_entries_json
) -> SearchStrategy[Fields]:
    """Plans of a known type with usable content, as JSON; their ids by the key that spells them."""
    meta = sometimes(nearly(objects))
    return st.one_of(
        json_object(type=st.just("items"), entries=entry_lists_json(entries), _meta=meta, **ids),
        json_object(type=st.just("markdown"), content=markdown_texts() | prose_texts, _meta=meta, **ids),
        json_object(type=st.just("file"), uri=uris, _meta=meta, **ids),
    )


@cache
def clean_updates() -> SearchStrategy[Fields]:
    """Updates as the schema of the v1 draft has them."""
    meta = sometimes(st.none() | objects)
    plan = plan_contents_json({"planId": plan_ids}, clean_entries_json)
    entries = entry_lists_json(clean_entries_json)
    return st.one_of(
        json_object(sessionUpdate=st.just("plan"), entries=entries, _meta=meta),
        json_object(sessionUpdate=st.just("plan_update"), plan=plan, _meta=meta),
        json_object(sessionUpdate=st.just("plan_removed"), planId=plan_ids, _meta=meta),
    )


@cache
def nearly_updates() -> SearchStrategy[Fields]:
    """Updates about plans in which anything may be wrong."""
    ids = nearly(plan_ids)
    spoilt_plans = json_object(
        type=nearly(st.sampled_from(("items", "markdown", "file", "_tree"))),
        planId=sometimes(ids),
        id=sometimes(ids),
        entries=sometimes(nearly(entry_lists_json())),
        content=sometimes(nearly(contents)),
        uri=sometimes(nearly(uris | texts)),
        _meta=sometimes(nearly(objects)),
    )
    some_plans = plan_contents_json({"planId": ids}) | plan_contents_json({"id": ids}) | spoilt_plans
    return with_fields(
        st.one_of(
            json_object(
                sessionUpdate=st.just("plan"), entries=nearly(entry_lists_json()), _meta=sometimes(nearly(objects))
            ),
            json_object(
                sessionUpdate=st.just("plan_update"),
                plan=nearly(with_fields(some_plans)),
                _meta=sometimes(nearly(objects)),
            ),
            json_object(sessionUpdate=st.just("plan_removed"), planId=sometimes(ids), id=sometimes(ids)),
        )
    )


def notifications(updates: SearchStrategy[Json], sessions: SearchStrategy[Any] = sessions) -> SearchStrategy[Fields]:
    """The message around an update, as it should be."""
    return json_object(
        jsonrpc=st.just("2.0"),
        method=st.just("session/update"),
        params=json_object(sessionId=sessions, update=updates, _meta=sometimes(objects)),
    )


@st.composite
def messages_with_one_defect(draw: st.DrawFn) -> Fields:
    """A message in which all is as the schema says, but for one field, which is missing or holds something else."""
    message = draw(notifications(clean_updates()))
    parent, name = draw(st.sampled_from(list(_places_in(message))))
    if draw(st.booleans()):
        del parent[name]
    else:
        parent[name] = draw(st.sampled_from((None, 1, "", "x", True)) | st.builds(list) | st.builds(dict))
    return message


def _places_in(value: Json) -> Iterator[tuple[Json, str]]:
    """Every object in a JSON value, with each of its names."""
    if isinstance(value, list):
        for item in value:
            yield from _places_in(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield value, name
            yield from _places_in(item)


@cache
def nearly_messages() -> SearchStrategy[Json]:
    """Messages about plans in which anything may be wrong, bare updates and batches of both."""
    spoilt = with_fields(
        json_object(
            jsonrpc=nearly(st.just("2.0")),
            id=sometimes(json_values),
            method=nearly(st.just("session/update")),
            params=nearly(
                with_fields(
                    json_object(
                        sessionId=nearly(sessions), update=nearly(nearly_updates()), _meta=sometimes(nearly(objects))
                    )
                )
            ),
        )
    )
    one = st.one_of(notifications(nearly_updates()), messages_with_one_defect(), spoilt, nearly_updates())
    return one | one | one | st.lists(one | json_values, max_size=3)


# The rest of the conversation

_request_ids = st.sampled_from((0, 1, "a", None))
_session_ids = nearly(sessions)


def _requests(method: str, params: SearchStrategy[Any]) -> SearchStrategy[Fields]:
    return json_object(
        jsonrpc=st.just("2.0"), id=sometimes(nearly(_request_ids)) | _request_ids, method=st.just(method), params=params
    )


@cache
def conversation_messages() -> SearchStrategy[Fields]:
    """What decides how plan messages are meant: initialize, load, resume, prompt, and answers to them."""
    capabilities = json_object(plan=sometimes(nearly(st.just({}))), planCapabilities=sometimes(nearly(st.just({}))))
    versions = nearly(st.sampled_from((1, 2)))
    initialize = json_object(protocolVersion=versions, clientCapabilities=nearly(capabilities))
    session = json_object(sessionId=_session_ids, replayFrom=sometimes(nearly(st.just({"type": "start"}))))
    answers = json_object(
        jsonrpc=st.just("2.0"),
        id=nearly(_request_ids),
        result=sometimes(nearly(json_object(protocolVersion=versions))),
        error=sometimes(nearly(objects)),
    )
    return st.one_of(
        _requests("initialize", nearly(initialize)),
        _requests("session/load", nearly(session)),
        _requests("session/resume", nearly(session)),
        _requests("session/prompt", nearly(session)),
        _requests("session/request_permission", nearly(session)),
        answers,
        answers,
    )


def other_messages() -> SearchStrategy[Fields]:
    """Messages that are not about plans at all."""
    chunks = json_object(
        sessionUpdate=st.sampled_from(("agent_message_chunk", "tool_call", "usage_update", "planning")),
        content=json_object(type=st.just("text"), text=contents | st.just('"plan"')),
    )
    return conversation_messages() | notifications(chunks) | objects


# Lines: JSON as text, written in one way or another


def compact(value: Json) -> bytes:
    """As most agents write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def spaced(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def escaped(value: Json) -> bytes:
    """What is not ASCII as \\u escapes."""
    return json.dumps(value, separators=(",", ":")).encode()


def spelled_out(value: Json) -> bytes:
    """Every character of every string as a \\u escape, names too."""
    return _spelled_out(value).encode()


def _spelled_out(value: Json) -> str:
    match value:
        case str():
            units = value.encode("utf-16-be")
            return '"' + "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)) + '"'
        case list():
            return "[" + ",".join(map(_spelled_out, value)) + "]"
        case dict():
            return "{" + ",".join(f"{_spelled_out(key)}:{_spelled_out(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


WAYS_OF_WRITING = (compact, spaced, escaped, spelled_out)


def reordered(value: Json, seed: int) -> Json:
    """The same JSON with the keys of each object in another order."""
    match value:
        case list():
            return [reordered(item, seed) for item in value]
        case dict():
            keys = list(value)
            random.Random(seed).shuffle(keys)
            return {key: reordered(value[key], seed) for key in keys}
    return value


def lines_of(values: SearchStrategy[Json]) -> SearchStrategy[bytes]:
    """The values, each as a line written in some way; now and then with a line feed or a byte order mark."""
    return st.builds(
        lambda value, way, before, after: bytes(before + way(value) + after),
        values,
        st.sampled_from(WAYS_OF_WRITING),
        st.sampled_from((b"", b"", b"", b" ", b"\xef\xbb\xbf")),
        st.sampled_from((b"", b"", b"\n", b"\r\n")),
    )


def damaged(lines: SearchStrategy[bytes]) -> SearchStrategy[bytes]:
    """Lines with a piece cut out, or with bytes in them that do not belong there."""
    cuts = st.integers(0, 400)
    junk = st.binary(max_size=4) | st.sampled_from((b"NaN", b"\\ud83d", b"1e999", b"[" * 300, b'{"a":' * 300))
    return st.builds(lambda line, at, length, junk: line[:at] + junk + line[at + length :], lines, cuts, cuts, junk)


@cache
def any_lines() -> SearchStrategy[bytes]:
    """Whatever may come out of a process: bytes, text, JSON, plans, nearly plans, and the conversation around them."""
    ordinary = lines_of(st.one_of(nearly_messages(), nearly_messages(), conversation_messages(), json_values))
    return st.one_of(ordinary, ordinary, ordinary, damaged(ordinary), st.binary(max_size=40), texts.map(str.encode))


# Markdown

#: Characters that mean something to a markdown parser, or to a program that splits lines.
_markdown_characters = st.text("-*+[]xX~>#`=1.)\t\r\n \\ab:<!\x00\x0b\x0c\x1c\x85\xa0\u2028é", max_size=30)
_boxes = st.sampled_from(("[ ]", "[x]", "[X]", "[~]", "[-]"))
_not_boxes = st.sampled_from(("[]", "[y]", "[ x]", "(x)", "[ ]:", "\\[ ]"))
_bullets = st.sampled_from(("-", "*", "+", "1.", "2)", "10."))
_indents = st.sampled_from(("", "", "  ", "    ", "\t", "> ", ">", "  > "))
_task_lines = st.builds(
    lambda indent, bullet, gap, box, text: f"{indent}{bullet}{gap}{box} {text}",
    _indents,
    _bullets,
    st.sampled_from((" ", "  ", "\t", "")),
    st.one_of(_boxes, _boxes, _not_boxes),
    st.one_of(
        phrases, phrases, st.sampled_from(("", "  two  spaces ", "ends in spaces  ", "`code`", "*", "- [ ] inner"))
    ),
)
_plain_tasks = st.builds(lambda bullet, box, text: f"{bullet} {box} {text}", _bullets, _boxes, phrases)
_other_lines = st.one_of(
    phrases,
    phrases.map("# {}".format),
    phrases.map("### {}".format),
    phrases.map("> {}".format),
    phrases.map("- {}".format),
    phrases.map("    - [ ] {}".format),
    st.sampled_from(
        ("", "", "---", "===", "```", "~~~", "```python", "<div>", "<!--", "-->", "[ ]: /url", "-", "  ===")
    ),
)
_code_blocks = st.lists(_task_lines, max_size=3).map(lambda lines: "\n".join(("```", *lines, "```")))


@cache
def markdown_texts() -> SearchStrategy[str]:
    """Texts with task lists: nested, numbered, quoted, in code, with any kind of line end, and worse."""
    lines = st.lists(st.one_of(_plain_tasks, _plain_tasks, _task_lines, _other_lines, _code_blocks), max_size=8)
    ends = st.sampled_from(("\n", "\n", "\r\n", "\r"))
    documents = st.builds(
        lambda lines, end, last: (end.join("\n".join(lines).split("\n"))) + (end if last else ""),
        lines,
        ends,
        st.booleans(),
    )
    return documents | documents | _markdown_characters


#: Texts without a task: proposals.
prose_texts = st.lists(phrases | phrases.map("# {}".format) | st.just(""), min_size=1, max_size=4).map("\n".join)
