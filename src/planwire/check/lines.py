"""Rules about lines and about the shape of plans: the reader's reports, with how to mend each."""

import re
from collections.abc import Iterator
from typing import Any, Final

from planwire.acp.dialects import V1, V2, Dialect
from planwire.acp.messages import Reading, Report
from planwire.acp.salvage import excerpt
from planwire.acp.unknown_values import unknown_values
from planwire.check.findings import SCHEMA, WARNING, Breach, Rule, by_code

_ID = "name the plan in `planId`, a string that stays the same for this plan throughout the session"
_WHOLE_ENTRY = "give every entry `content`, `priority` and `status`, each a string; readers drop an entry without them"
_STDOUT = "write only JSON-RPC messages to stdout; log to stderr"

#: The rules whose breaches the reader reports.
READER_RULES: Final = by_code(
    Rule("not-json", "R35", "stdout carries only ACP messages", _STDOUT),
    Rule("not-a-message", "R35", "a line is a JSON-RPC message", _STDOUT),
    Rule(
        "not-quite-json",
        "R34",
        "a line is JSON in UTF-8",
        "encode with a JSON library, in UTF-8, without NaN or half an emoji; other readers lose the line",
    ),
    Rule("empty-batch", "R36", "a batch has at least one message", "send no empty batches"),
    Rule("bad-session", SCHEMA, "an update names its session", "put the id from `session/new` into `params.sessionId`"),
    Rule(
        "no-plan",
        "R22",
        "a `plan_update` carries a plan",
        "put the plan into `update.plan`, an object with `type`, `planId` and the content of that type",
    ),
    Rule("no-plan-id", "R11", "an identified plan has an id", _ID, number_v2="R18"),
    Rule("bad-plan-id", "R11", "the id of a plan is a string", _ID, number_v2="R18"),
    Rule("two-plan-ids", "R11", "a plan has one id", f"{_ID}; drop `id`, its former name", number_v2="R18"),
    Rule("no-plan-type", "R22", "an identified plan has a type", "set `plan.type` to `items`, `markdown` or `file`"),
    Rule(
        "entries-not-a-list",
        "R6",
        "`entries` is a list",
        "send the complete list in `entries`; an empty list clears the plan",
    ),
    Rule("entry-not-an-object", "R6", "an entry is an object", _WHOLE_ENTRY),
    Rule("no-content", "R6", "an entry has `content`", _WHOLE_ENTRY),
    Rule("no-priority", "R6", "an entry has a `priority`", _WHOLE_ENTRY),
    Rule("no-status", "R6", "an entry has a `status`", _WHOLE_ENTRY),
    Rule(
        "content-not-text", "R22", "a markdown plan has its text in `content`", "send the whole text in `plan.content`"
    ),
    Rule("uri-not-text", "R22", "a file plan has a `uri`", "send the file's URI in `plan.uri`"),
    Rule(
        "uri-not-absolute",
        "R25",
        "the URI of a file plan is absolute (version 2)",
        "send an absolute URI, such as file:///home/me/plan.md",
    ),
    Rule(
        "unknown-status",
        "R7",
        "statuses are those of the dialect",
        "use `pending`, `in_progress` or `completed` (in version 2 also `cancelled`, or a custom one that "
        "starts with `_`); readers drop entries with any other",
        number_v2="R19",
    ),
    Rule(
        "unknown-priority",
        "R7",
        "priorities are those of the dialect",
        "use `high`, `medium` or `low` (in version 2 also a custom one that starts with `_`); readers drop "
        "entries with any other",
        number_v2="R19",
    ),
    Rule(
        "removed-update",
        "R29",
        "version 2 has no `plan` update",
        "send `plan_update` with a plan of type `items` and a `planId`, or answer `initialize` with version 1",
    ),
    Rule("bad-meta", SCHEMA, "`_meta` is an object", "make `_meta` an object, or leave it out"),
    Rule(
        "line-too-long",
        SCHEMA,
        "lines are short enough to be read",
        "send less in one message: this line was not checked",
        level=WARNING,
    ),
    Rule(
        "too-many-entries",
        SCHEMA,
        "lists are short enough to be read",
        "send a plan that people can read: the rest of the list was not checked",
        level=WARNING,
    ),
    Rule(
        "too-deep", SCHEMA, "fields are not nested too deeply", "nest less: this field was not checked", level=WARNING
    ),
)

#: The rules about everything around a plan on its line.
ENVELOPE_RULES: Final = by_code(
    Rule(
        "not-json-rpc",
        "R35",
        'a message is JSON-RPC 2.0, `"jsonrpc": "2.0"` included',
        'send {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": …, "update": …}}',
    ),
    Rule(
        "batch-in-v1",
        "R34",
        "in version 1 a line is one message, not a batch",
        "write each message on a line of its own; only version 2 has batches",
    ),
)


def reader_breaches(reading: Reading, dialect: Dialect | None) -> Iterator[tuple[Rule, Breach]]:
    """The reader's reports on a line as breaches of rules, without how the reader dealt with each defect: that does not
    concern the agent's author."""
    reports = [*reading.reports]
    for update in reading.updates:  # without a dialect, only a word that is wrong in all of them is a breach
        reports += unknown_values(update, dialect or (V1 if update.tag == "plan" else V2))
    for report in reports:
        rule = READER_RULES.get(report.code)
        if rule is None or (report.code == "uri-not-absolute" and not (dialect and dialect.absolute_uris)):
            continue
        number = report.rule if report.code.startswith("unknown-") else None
        yield rule, Breach(report.where, report.defect, _subject(report), number=number)


def _subject(report: Report) -> str:
    """What makes breaches one thing to mend: the same field with the same word, whichever entry it is in."""
    return f"{re.sub(r'[0-9]+', '', report.where)} {report.word}"


def envelope_breaches(value: Any, dialect: Dialect | None) -> Iterator[tuple[Rule, Breach]]:
    """Breaches by the line as a whole: its batch, and the JSON-RPC of its messages."""
    if isinstance(value, list):
        if dialect is not None and not dialect.has_batches:
            yield ENVELOPE_RULES["batch-in-v1"], Breach("", f"a batch of {len(value)} messages on one line")
        for index, message in enumerate(value):
            yield from _message_breaches(message, f"[{index}]")
    else:
        yield from _message_breaches(value, "")


def _message_breaches(message: Any, path: str) -> Iterator[tuple[Rule, Breach]]:
    if isinstance(message, dict) and message.get("jsonrpc") != "2.0":
        found = f"found {excerpt(message['jsonrpc'])!r}" if "jsonrpc" in message else "there is none"
        where = f"{path}.jsonrpc".removeprefix(".")
        yield ENVELOPE_RULES["not-json-rpc"], Breach(where, f'expected "jsonrpc": "2.0", {found}')
