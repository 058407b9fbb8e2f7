"""The agent that a client is tried with: what it announces, what it sends in its turn, and what it waits for.

A trial is one run of the client. In the first one the agent sends no plan, which shows what the client announces, and
what it prints and complains of anyway. The next ones send plans, one dialect each. The last one adds updates and
requests that no client knows: the protocol is open, and a client has to survive them. Sans-IO: messages in, messages
out.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from planwire.acp.dialects import DIALECTS, V1, Dialect, negotiate
from planwire.acp.words import SWITCH_MODE
from planwire.check.plan_tools import progress
from planwire.model.plan import PRIORITIES, Fields
from planwire.model.stop_reasons import STOP_CANCELLED, STOP_END_TURN

#: The text of a message in every trial: a client that prints it would print plans, too.
MESSAGE: Final = "planwire says sample"
#: The trials without a dialect of their own.
BARE: Final = "no plan"
UNKNOWN: Final = "unknown words"

#: The ids of the agent's requests.
PERMISSION: Final = "planwire-permission"
PROBE: Final = "planwire-probe"

_SESSION: Final = "planwire-trial"
_CAPABILITIES: Final = {"loadSession": True, "promptCapabilities": {}}


class Sent(Struct, frozen=True):
    """One update of a trial: what it is called, the update, and the texts that a client might show of it."""

    what: str
    update: Fields
    texts: tuple[str, ...] = ()


class Trial(Struct, frozen=True):
    """One run of a client, in a dialect; `has_plans` and `has_unknowns` say what the agent sends."""

    name: str
    dialect: Dialect
    has_plans: bool = True
    has_unknowns: bool = False


def trials_for(request: Any) -> Iterator[Trial]:
    """The trials after the first of a client with these `params` of `initialize`: one for each dialect that it
    announces, and one with unknown words."""
    asked = request.get("protocolVersion") if isinstance(request, dict) else None
    for dialect in DIALECTS.values():
        if isinstance(asked, int) and dialect.version <= asked and dialect.is_announced(request):
            yield Trial(dialect.name, dialect)
    yield Trial(UNKNOWN, negotiate(request, {"protocolVersion": asked}), has_unknowns=True)


def trial_named(name: str, dialect: str) -> Trial:
    """The trial with this name and dialect, which come from another process."""
    return Trial(name, DIALECTS[dialect], has_plans=name != BARE, has_unknowns=name == UNKNOWN)


def sent_in(trial: Trial) -> tuple[Sent, ...]:
    """The updates about plans, in order."""
    if not trial.has_plans:
        return ()
    name = trial.name.replace(" ", "-")
    if not trial.dialect.operations:
        lists = (_entries(f"{name} step", done) for done in (0, 1))
        return tuple(Sent("plan", {"sessionUpdate": "plan", "entries": each}, _texts(each)) for each in lists)
    return tuple(_operations(name, trial.dialect.id_keys[0]))


def _operations(name: str, key: str) -> Iterator[Sent]:
    for plan_id, done in (("list", 0), ("list", 1), ("gone", 0)):
        entries = _entries(f"{name} {plan_id}", done)
        plan = {"type": "items", key: plan_id, "entries": entries}
        yield Sent("plan_update items", {"sessionUpdate": "plan_update", "plan": plan}, _texts(entries))
    text = f"{name} prose sample"
    prose = {"type": "markdown", key: "prose", "content": f"# Plan\n\n{text}"}
    yield Sent("plan_update markdown", {"sessionUpdate": "plan_update", "plan": prose}, (text,))
    uri = f"file:///{name}/sample.md"
    file = {"type": "file", key: "file", "uri": uri}
    yield Sent("plan_update file", {"sessionUpdate": "plan_update", "plan": file}, (uri,))
    yield Sent("plan_removed", {"sessionUpdate": "plan_removed", key: "gone"})


def _entries(stem: str, done: int) -> list[Fields]:
    words = progress(done, len(PRIORITIES))
    named = enumerate(zip(words, PRIORITIES, strict=True), 1)
    return [{"content": f"{stem} {n} sample", "priority": rank, "status": word} for n, (word, rank) in named]


def _texts(entries: list[Fields]) -> tuple[str, ...]:
    return tuple(str(entry["content"]) for entry in entries)


class TrialAgent:
    """The agent's side of one trial."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._prompt: Any = None
        self._waiting: deque[Fields] = deque()

    def hear(self, message: Any) -> Iterator[Fields]:
        """Take in a message of the client. Yields the agent's messages in return."""
        if not isinstance(message, dict):
            return
        method, asked = message.get("method"), message.get("id")
        if method is None and asked in (PERMISSION, PROBE):
            yield from self._go_on()
        elif method == "initialize":
            yield _answer(asked, self._greeting())
        elif method == "session/prompt":
            self._prompt = asked
            if self._in_version_2:
                yield _answer(asked, {"messageId": "m1"})
            yield from map(_update, self._said())
            self._waiting = deque(self._questions())
            yield from self._go_on()
        elif method in ("session/load", "session/resume"):
            yield from (_update(sent.update) for sent in sent_in(self._trial))
            yield _answer(asked, {})
        elif method == "session/cancel":
            self._waiting.clear()
            yield from self._go_on(STOP_CANCELLED)
        elif asked is not None and method is not None:
            yield _answer(asked, {"sessionId": _SESSION} if method in ("session/new", "session/fork") else {})

    @property
    def _in_version_2(self) -> bool:
        return self._trial.dialect.answers_prompts_at_once

    def _greeting(self) -> Fields:
        about = {"name": "planwire-trial", "title": "planwire trial", "version": "1"}
        if self._in_version_2:
            return {"protocolVersion": self._trial.dialect.version, "capabilities": {"session": {}}, "info": about}
        return {"protocolVersion": V1.version, "agentCapabilities": _CAPABILITIES, "agentInfo": about}

    def _said(self) -> Iterator[Fields]:
        if self._in_version_2:
            yield {"sessionUpdate": "state_update", "state": "running"}
        if self._trial.has_unknowns:
            yield {"sessionUpdate": "_planwire_probe", "sample": True}
        yield from (sent.update for sent in sent_in(self._trial))
        chunk = {"content": {"type": "text", "text": f"{MESSAGE}\n"}, "messageId": "m2"}
        yield {"sessionUpdate": "agent_message_chunk", **chunk}

    def _questions(self) -> Iterator[Fields]:
        """The agent's requests in the turn. Each is sent once the one before it is answered."""
        options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
        options.append({"optionId": "no", "name": "No", "kind": "reject_once"})
        call = {"toolCallId": "t1", "kind": SWITCH_MODE, "title": "Approve Plan", "rawInput": {"plan": "# Plan"}}
        subject: Fields = {"toolCall": call}
        if self._in_version_2:
            subject = {"title": "Approve Plan", "subject": {"type": "tool_call", "toolCall": call}}
        params = {"sessionId": _SESSION, **subject, "options": options}
        yield _request(PERMISSION, "session/request_permission", params)
        if self._trial.has_unknowns:
            yield {"jsonrpc": "2.0", "method": "_planwire/told", "params": {"sample": True}}
            yield _request(PROBE, "_planwire/probe", {"sample": True})

    def _go_on(self, reason: str = STOP_END_TURN) -> Iterator[Fields]:
        while self._waiting:
            message = self._waiting.popleft()
            yield message
            if "id" in message:
                return
        if self._prompt is not None:
            if self._in_version_2:
                yield _update({"sessionUpdate": "state_update", "state": "idle", "stopReason": reason})
            else:
                yield _answer(self._prompt, {"stopReason": reason})
            self._prompt = None


def _answer(asked: Any, result: Fields) -> Fields:
    return {"jsonrpc": "2.0", "id": asked, "result": result}


def _request(asked: str, method: str, params: Fields) -> Fields:
    return {"jsonrpc": "2.0", "id": asked, "method": method, "params": params}


def _update(update: Fields) -> Fields:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": _SESSION, "update": update}}
