"""Rules about a single update: what the agent may send to this client, and how it names a plan."""

import re
from collections.abc import Iterator
from typing import Final

from planwire.acp.dialects import Dialect, id_keys
from planwire.acp.messages import Extension, Removal
from planwire.acp.salvage import excerpt
from planwire.check.facts import PlanUpdate
from planwire.check.findings import WARNING, Breach, RuleFamily
from planwire.model.kinds import entries_of
from planwire.model.plan import Fields, OtherPlan

OPERATION_RULES: Final = RuleFamily[PlanUpdate]()


@OPERATION_RULES.rule(
    "R8",
    "`plan_update` and `plan_removed` go only to a client that announced them (version 1)",
    "look for `clientCapabilities.plan` in `initialize`; where it is not an object, send the complete list as "
    "`plan` instead (R9)",
)
def _unasked_operation(seen: PlanUpdate) -> Iterator[Breach]:
    dialect = seen.facts.dialect
    if dialect is not None and not dialect.operations and seen.update.tag != "plan":
        message = f"`{seen.update.tag}` was sent to a client that announced no plan capability"
        yield Breach(seen.update.path("sessionUpdate"), message, seen.update.tag)


@OPERATION_RULES.rule(
    "R11",
    "the id of a plan is spelled as this client reads it",
    "send `planId`; only a client that announces `planCapabilities` and not `plan` reads `id`. Readers lose "
    "the whole update otherwise",
    number_v2="R18",
)
def _misspelled_id(seen: PlanUpdate) -> Iterator[Breach]:
    dialect = seen.facts.dialect
    if dialect is not None and not set(seen.update.id_keys) & set(dialect.id_keys):
        yield from _other_spelling(seen, dialect)


@OPERATION_RULES.rule(
    "R11",
    "the id of a plan is spelled as in today's draft",
    "send `planId` too: `id` was its name until July 2026, and readers of today lose the whole update",
    level=WARNING,
)
def _former_id(seen: PlanUpdate) -> Iterator[Breach]:
    dialect = seen.facts.dialect
    if dialect is not None and set(seen.update.id_keys) & set(dialect.id_keys[1:]):
        yield from _other_spelling(seen, dialect)


def _other_spelling(seen: PlanUpdate, dialect: Dialect) -> Iterator[Breach]:
    keys = seen.update.id_keys
    if dialect.operations and keys and dialect.id_keys[0] not in keys:
        message = f"the plan's id is in `{keys[0]}`, but this client reads `{dialect.id_keys[0]}`"
        yield Breach(seen.update.plan_path(keys[0]), message)


@OPERATION_RULES.rule(
    "R19",
    "a plan is of a type of the protocol; in version 2 a custom type starts with `_`",
    "send `items`, `markdown` or `file`; put what does not fit into `_meta`",
)
def _unknown_kind(seen: PlanUpdate) -> Iterator[Breach]:
    body, dialect = seen.update.body, seen.facts.dialect
    if not isinstance(body, OtherPlan):
        return
    kind = repr(excerpt(body.type))
    if dialect is not None and dialect.closed:
        message = f"{kind} is not a plan type of version 1, which has no custom types"
        yield Breach(seen.update.plan_path("type"), message, body.type, number="R7")
    elif not body.type.startswith("_"):
        message = f"{kind} is not a plan type of the protocol, and custom types start with `_`"
        yield Breach(seen.update.plan_path("type"), message, body.type)


@OPERATION_RULES.rule(
    "R13",
    "`plan_removed` names a plan that exists",
    "remove a plan once, by the id it was sent with",
    level=WARNING,
)
def _unknown_removal(seen: PlanUpdate) -> Iterator[Breach]:
    body = seen.update.body
    if not isinstance(body, Removal) or not seen.live or seen.before is not None:
        return
    if seen.facts.greeted and not seen.session.continued:  # else the plan may be older than this connection
        yield Breach(seen.update.path("planId"), f"there is no plan {excerpt(body.id)!r} to remove")


@OPERATION_RULES.rule(
    "R31",
    "custom fields go into `_meta`, not beside those of the protocol",
    "move the field into `_meta`, under a name of your own",
)
def _foreign_field(seen: PlanUpdate) -> Iterator[Breach]:
    update, body = seen.update, seen.update.body
    envelope = update.envelope
    ids = id_keys() if seen.update.tag != "plan" else ()  # their spelling has rules of its own, where a plan has one
    if update.tag != "plan" or body is None:
        yield from _fields(envelope.update, update.path(), ids)
    yield from _fields(envelope.params, f"{envelope.at}.params", ids)
    yield from _fields(envelope.message, envelope.at, ("jsonrpc",))
    if isinstance(body, (Extension, Removal, OtherPlan)) or body is None:
        return
    yield from _fields(body.extra, update.plan_path(), ids)
    for index, entry in enumerate(entries_of(body) or ()):
        yield from _fields(entry.extra, update.plan_path(f"entries[{index}]"))


def _fields(fields: Fields | None, path: str, known: tuple[str, ...] = ()) -> Iterator[Breach]:
    place = re.sub(r"\[[0-9]+\]", "", path).removeprefix(".")
    for name in fields or ():
        if name not in ("_meta", *known):
            where = f"{path}.{name}".removeprefix(".")
            yield Breach(where, f"the protocol has no field `{excerpt(name)}` here", f"{place} {name}")


@OPERATION_RULES.rule(
    "R12",
    "an update carries the whole content of its plan",
    "send the whole text in `content` unless the client announced that it puts pieces together",
)
def _text_in_meta(seen: PlanUpdate) -> Iterator[Breach]:
    if isinstance(seen.update.body, Extension) and seen.facts.greeted and not seen.facts.may_stream_in_meta:
        message = "`content` is empty and the new text is in `_meta`, for a client that did not ask for that"
        yield Breach(seen.update.plan_path("content"), message)


@OPERATION_RULES.rule(
    "R42",
    "updates of a cancelled turn come before the answer to its prompt",
    "send the last updates first, then answer `session/prompt` with `cancelled`",
)
def _after_cancel(seen: PlanUpdate) -> Iterator[Breach]:
    if seen.live and seen.session.ended_by_cancel and seen.session.turn is None:
        yield Breach(seen.update.path(), "the update came after the cancelled prompt was answered")
