"""The checker: takes in every line of a connection, in order, and holds each against the rules.

It distrusts every line and gives up on none. Its subject is an agent that may be wrong in any way, so no line may make
it raise or stop: it reads with the same lenient reader as the rest of planwire, decodes each part for itself, and asks
`isinstance` before it looks into anything. And one defect must not hide the next. A checker that stopped
at the first finding would cost an author one run in CI per finding; so a list with a bad entry still counts as a list,
an update that this client never asked for still changes the plan, and rules about time go on from the state that a
reader would have. The price is that one mistake may show up under two rules, which costs a glance.
"""

from typing import Any

import msgspec
from msgspec import UNSET, Struct

from planwire.acp.conversation import AGENT, CLIENT, Request, name_in, sender_of, value_of
from planwire.acp.dialects import V1, Dialect, negotiate
from planwire.acp.messages import Message, Update
from planwire.acp.read import MAX_LINE_BYTES, read
from planwire.acp.requests import Requests
from planwire.acp.salvage import excerpt
from planwire.acp.words import COMPACTION_UPDATES, PLAN_UPDATES
from planwire.check.facts import CheckedSession, Facts, Replay, ReplayEnd, Turn, TurnEnd
from planwire.check.findings import ERROR, WARNING, Breach, Finding, Findings, Rule
from planwire.check.lines import envelope_breaches, reader_breaches
from planwire.check.offers import FORK, PLAN_MODE, PROMPT, drives
from planwire.check.operations import OPERATION_RULES
from planwire.check.practices import END_RULES, REPLAY_RULES, TURN_RULES, UPDATE_PRACTICES
from planwire.check.sightings import approved_plan, written_list
from planwire.check.table import CONVERSATION_RULES, DRIVING_RULES
from planwire.model.plan import PlanId


class Verdict(Struct, frozen=True):
    """The findings, and the extent of the traffic: updates about plans, sessions, the dialect, the agent's name, and
    what the client has `driven` the agent to do, each with whether a plan was sent then."""

    findings: tuple[Finding, ...]
    updates: int
    sessions: int
    dialect: str | None
    agent: str | None = None
    driven: dict[str, bool] = {}

    @property
    def errors(self) -> int:
        return sum(finding.level == ERROR for finding in self.findings)

    @property
    def warnings(self) -> int:
        return sum(finding.level == WARNING for finding in self.findings)

    def passes(self, *, strict: bool = False) -> bool:
        return not (self.findings if strict else self.errors)


class Checker:
    """Judges one connection. `assumed` is the client's dialect until the lines say otherwise."""

    def __init__(self, assumed: Dialect | None = None) -> None:
        self._facts = Facts(assumed)
        self._findings = Findings()
        self._unanswered = Requests[Request]()
        self._lines = 0

    @property
    def updates(self) -> int:
        """The number of updates about plans so far."""
        return self._facts.updates

    def hear(self, line: bytes, sender: str | None = None, number: int | None = None) -> None:
        """Take in one line of either side.

        Without `sender` the line itself decides; in doubt it counts as the agent's. `number` counts from 1; without it
        the checker counts the lines it hears.
        """
        self._lines = number = self._lines + 1 if number is None else number
        reading = read(line)
        if sender is None and reading.messages:
            sender = sender_of(reading.messages[0], self._unanswered)
        sender = sender or AGENT
        if sender == AGENT:
            dialect = self._facts.dialect
            value = value_of(line) if len(line) <= MAX_LINE_BYTES else None
            for rule, breach in (*reader_breaches(reading, dialect), *envelope_breaches(value, dialect)):
                self._add(rule, breach, number)
            for update in reading.updates:
                self._judge(update, number)
        for message in reading.messages:
            if message.method is None:
                self._hear_answer(message, sender, number)
            else:
                self._hear_call(message, message.method, sender, number)

    def accuse(self, code: str, message: str, line: int | None = None) -> None:
        """Add a finding of the code that drives the agent: a breach of one of `DRIVING_RULES`."""
        self._findings.add(DRIVING_RULES[code], Breach("", message), line)

    def close(self) -> Verdict:
        """End the connection and return the verdict."""
        sessions = [session for session in self._facts.sessions.values() if session.first_line]
        knows_sessions = any(session.known for session in self._facts.sessions.values())
        for session in sessions:
            for rule, breach in END_RULES.breaches(session):
                self._add(rule, breach, None, session.id)
            if knows_sessions and not session.known and session.id and session.id not in self._facts.subagents:
                message = f"the plan is in session {excerpt(session.id)!r}, which the client never heard of"
                rule = CONVERSATION_RULES["unknown-session"]
                self._add(rule, Breach("params.sessionId", message), session.first_line, session.id)
        facts = self._facts
        name = None if facts.dialect is None else facts.dialect.name
        return Verdict(self._findings.all(), facts.updates, len(facts.sessions), name, facts.agent, facts.driven)

    def _add(
        self, rule: Rule, breach: Breach, line: int | None, session: str | None = None, plan: PlanId = None
    ) -> None:
        self._findings.add(rule, breach, line, session=session, plan=plan, version=self._facts.version)

    def _judge(self, update: Update, line: int) -> None:
        seen = self._facts.take(update, line)
        plan = update.body.id if update.body is not None else None
        for rule, breach in (*OPERATION_RULES.breaches(seen), *UPDATE_PRACTICES.breaches(seen)):
            self._add(rule, breach, line, update.session, plan)

    def _hear_call(self, message: Message, method: str, sender: str, line: int) -> None:
        params = value_of(message.params)
        if message.id is not UNSET:
            self._unanswered.ask(sender, message.id, Request(method, params))
        session_id = params.get("sessionId") if isinstance(params, dict) else None
        if not isinstance(session_id, str):
            return
        session = self._facts.session(session_id)
        if sender == CLIENT:
            session.known = True
            self._hear_client(session, method, params)
        elif method == "session/update":
            self._hear_update(session, params.get("update"), line)

    def _hear_client(self, session: CheckedSession, method: str, params: Any) -> None:
        what = drives(method, params)
        if what is not None and what != FORK and (what, session.doing) != (PROMPT, PLAN_MODE):
            self._facts.drive(session, what)
        match method:
            case "session/prompt":
                session.end_replay()
                session.cancelled = session.ended_by_cancel = False
                session.open_prompts += 1
                if session.turn is None:
                    session.turns += 1
                    session.turn = Turn(session.turns)
            case "session/cancel":
                session.cancelled = True
            case "session/fork":
                self._facts.open_forks += 1
            case "session/load":
                session.continued = True
                session.begin_replay(method, expected=True)
            case "session/resume":
                asks = params.get("replayFrom")
                whole = isinstance(asks, dict) and asks.get("type") == "start"
                if whole or asks is None:  # in a replay from elsewhere, the lines don't tell what belongs to it
                    session.begin_replay(method, expected=whole)
                session.continued = True

    def _hear_update(self, session: CheckedSession, update: Any, line: int) -> None:
        tag = update.get("sessionUpdate") if isinstance(update, dict) else None
        if not isinstance(tag, str):
            return
        if tag in COMPACTION_UPDATES and self._facts.greeted and not self._facts.may_report_compactions:
            found = f"`{tag}` was sent to a client that did not announce it"
            breach = Breach("params.update.sessionUpdate", found)
            self._add(CONVERSATION_RULES["unasked-compaction"], breach, line, session.id)
        elif tag in ("tool_call", "tool_call_update") and session.turn is not None and session.replay is None:
            session.turn.tool_calls += tag == "tool_call"
            if written_list(update):
                session.turn.planned_at, session.turn.planned_how = line, "the model wrote a list with a tool"
        elif tag == "state_update" and session.replay is not None:
            session.replay.stated = True
        elif tag == "state_update" and update.get("state") == "idle":
            self._end_turn(session, update.get("stopReason"))
        elif tag == "subagent_update" and isinstance(update.get("sessionId"), str):
            self._facts.subagents.add(update["sessionId"])
        elif tag.startswith("plan") and tag not in PLAN_UPDATES:
            breach = Breach("params.update.sessionUpdate", f"there is no update `{excerpt(tag)}`", tag)
            self._add(CONVERSATION_RULES["unknown-update"], breach, line, session.id)

    def _hear_answer(self, message: Message, sender: str, line: int) -> None:
        asked = self._unanswered.answer(CLIENT if sender == AGENT else AGENT, message.id)
        if asked is None or not isinstance(asked.params, dict):
            return
        failed, result = message.error is not UNSET, value_of(message.result)
        self._facts.open_forks -= asked.method == "session/fork"
        session_id = asked.params.get("sessionId")
        session = self._facts.session(session_id) if isinstance(session_id, str) else None
        match asked.method:
            case "initialize" if not failed:
                self._greet(asked.params, result, line)
            case "session/new" | "session/fork" if isinstance(result, dict) and isinstance(
                result.get("sessionId"), str
            ):
                self._hear_of_session(self._facts.session(result["sessionId"]), asked.method)
            case "session/prompt" if session is not None:
                self._hear_prompt_answer(session, failed, result)
            case "session/load" | "session/resume" if session is not None and session.replay is not None:
                self._end_replay(session, session.replay, failed, line)
            case "session/request_permission" if session is not None and session.turn is not None:
                if approved_plan(asked.params, result):
                    session.turn.planned_at, session.turn.planned_how = line, "a plan was approved"

    def _hear_of_session(self, session: CheckedSession, method: str) -> None:
        session.known = True
        if method == "session/fork":
            session.continued = True
            self._facts.drive(session, FORK)
            self._facts.driven[FORK] |= bool(session.first_line)  # some agents send the plan before they answer

    def _greet(self, request: Any, result: Any, line: int) -> None:
        facts = self._facts
        facts.dialect, facts.greeted = negotiate(request, result), True
        facts.may_report_compactions = facts.dialect.may_report_compactions(request)
        facts.may_stream_in_meta = b"planContentDelta" in msgspec.json.encode(request)
        if not isinstance(result, dict):
            return
        facts.agent = name_in(result.get("agentInfo") or result.get("info"))
        if V1.agent_capabilities in result and facts.dialect.agent_capabilities not in result:
            found = f"version {facts.version} was answered with `{V1.agent_capabilities}`, as version 1 spells it"
            self._add(CONVERSATION_RULES["two-versions"], Breach("result.protocolVersion", found), line)

    def _hear_prompt_answer(self, session: CheckedSession, failed: bool, result: Any) -> None:
        session.open_prompts = max(0, session.open_prompts - 1)
        reason = result.get("stopReason") if isinstance(result, dict) else None
        dialect = self._facts.dialect
        only_began = reason is None and dialect is not None and dialect.answers_prompts_at_once
        if not session.open_prompts and failed:
            session.turn = None  # a refused prompt is no turn
        elif not session.open_prompts and not only_began:
            self._end_turn(session, reason)

    def _end_turn(self, session: CheckedSession, reason: Any) -> None:
        turn, session.turn = session.turn, None
        if turn is None:
            return
        session.ended_by_cancel = session.cancelled
        ended = TurnEnd(session, turn, reason if isinstance(reason, str) else None)
        for rule, breach in TURN_RULES.breaches(ended):
            self._add(rule, breach, None, session.id)

    def _end_replay(self, session: CheckedSession, replay: Replay, failed: bool, line: int) -> None:
        if not failed:
            for rule, breach in REPLAY_RULES.breaches(ReplayEnd(session, replay, line, self._facts.dialect)):
                self._add(rule, breach, None, session.id)
        session.end_replay()
