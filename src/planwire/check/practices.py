"""Rules about plans over time: lists are complete and keep up with the work, people can read and rank them, and a
replay ends with the plans as they were."""

from collections.abc import Iterator
from typing import Final

from planwire.acp.salvage import excerpt
from planwire.check.facts import CheckedSession, PlanHistory, PlanUpdate, ReplayEnd, TurnEnd
from planwire.check.findings import PRACTICE, WARNING, Breach, RuleFamily
from planwire.model.kinds import content_of, entries_of, is_blank, noun_of
from planwire.model.plan import Plan, PlanId
from planwire.model.steps import PlanState
from planwire.model.stop_reasons import STOP_END_TURN

#: Characters of a concise entry: about two lines of a terminal.
CONCISE_CHARACTERS: Final = 200
#: Entries that become completed in one update: two may finish together, three come from an agent that reports late.
MANY_AT_ONCE: Final = 3
#: Unfinished entries that a list must lose to raise suspicion: one may be dropped as no longer needed (R5).
FEW_LEFT: Final = 2
#: Entries in progress at once. Agents with helpers do work on several; with more, people can't tell where the work is.
MANY_IN_PROGRESS: Final = 3
#: Tool calls after which a plan that has not moved is out of date: reading and editing one file takes two or three.
WORK_WITHOUT_UPDATE: Final = 5
#: From this many entries on, a list should rank some above others; of two, the order tells.
WORTH_RANKING: Final = 3

UPDATE_PRACTICES: Final = RuleFamily[PlanUpdate]()
TURN_RULES: Final = RuleFamily[TurnEnd]()
END_RULES: Final = RuleFamily[CheckedSession]()
#: About the history that an agent tells again after `session/load` or `session/resume`.
REPLAY_RULES: Final = RuleFamily[ReplayEnd]()


@UPDATE_PRACTICES.rule(
    "R3",
    "each update has the complete list, unfinished entries included",
    "send all entries with their current status each time; an entry that is not on the list is gone",
    number_v2="R17",
)
def _left_out(seen: PlanUpdate) -> Iterator[Breach]:
    if seen.returned:
        step, left_at = seen.returned[0]
        others = f" and {len(seen.returned) - 1} more" if len(seen.returned) > 1 else ""
        message = (
            f"unfinished entries were left out, and came back at line {seen.line}: {excerpt(step.content)!r}{others}"
        )
        where = "" if seen.update.envelope.at else seen.update.plan_path("entries")  # the batch is not at that line
        yield Breach(where, message, line=left_at)


@UPDATE_PRACTICES.rule(
    "R2",
    "status changes are reported as they happen",
    "send an update when an entry is begun and when it is finished, not several at the end",
    level=WARNING,
)
def _told_late(seen: PlanUpdate) -> Iterator[Breach]:
    if not seen.live or seen.after is None or entries_of(seen.update.body) is None:
        return
    done = {step.id for step in seen.after.steps if step.is_done}
    if seen.before is None:
        if len(done) >= MANY_AT_ONCE and len(done) == len(seen.after.steps) and not seen.session.continued:
            message = f"the plan was first sent when all of its {len(done)} entries were completed"
            yield Breach(seen.update.plan_path("entries"), message)
        return
    open_before = [step for step in seen.before.steps if step.is_open]
    finished = [step for step in open_before if step.id in done]
    none_begun = not any(step.is_current for step in finished)
    if len(finished) >= MANY_AT_ONCE or (len(finished) == len(open_before) == 2 and none_begun):
        yield Breach(seen.update.plan_path("entries"), f"{len(finished)} entries became completed in one update")


@UPDATE_PRACTICES.rule(
    PRACTICE,
    f"no more than {MANY_IN_PROGRESS} entries are in progress at once",
    "mark as `in_progress` only what is being worked on right now",
    level=WARNING,
)
def _crowded(seen: PlanUpdate) -> Iterator[Breach]:
    if seen.live and seen.after is not None and entries_of(seen.update.body) is not None:
        at_work = len(seen.after.progress.current)
        if at_work > MANY_IN_PROGRESS:
            yield Breach(seen.update.plan_path("entries"), f"{at_work} entries are in progress at once")


@UPDATE_PRACTICES.rule(
    PRACTICE,
    f"an entry is one clear task on one line, of up to {CONCISE_CHARACTERS} characters",
    "say the task in one short line; split it, or tell the details in a message",
    level=WARNING,
)
def _long_winded(seen: PlanUpdate) -> Iterator[Breach]:
    if not seen.live:
        return
    for index, entry in enumerate(entries_of(seen.update.body) or ()):
        where = seen.update.plan_path(f"entries[{index}].content")
        text = entry.content.strip()
        if not text:
            yield Breach(where, "the entry has no text", "no text")
        elif len(text) > CONCISE_CHARACTERS:
            yield Breach(where, f"the entry is {len(text):,} characters long: {excerpt(text)!r}", "long")
        elif "\n" in text:
            yield Breach(where, f"the entry has several lines: {excerpt(text)!r}", "lines")


@TURN_RULES.rule(
    "R1",
    "a plan that the model makes is reported",
    "when the model calls its plan or to-do tool, or its plan is approved, send a plan update too: `plan` "
    "needs no capability (R9, R14)",
    level=WARNING,
)
def _not_reported(ended: TurnEnd) -> Iterator[Breach]:
    if ended.turn.planned_at is not None and not ended.turn.updates:
        message = f"{ended.turn.planned_how}, and the turn ended without a plan update"
        yield Breach("", message, line=ended.turn.planned_at)


@TURN_RULES.rule(
    "R2",
    "finished entries are reported as completed before the turn ends",
    "before you answer the prompt, send a last update: `completed` if it is done, `pending` if it is not",
    level=WARNING,
)
def _unfinished_business(ended: TurnEnd) -> Iterator[Breach]:
    if ended.stop_reason != STOP_END_TURN:
        return
    for plan_id, history, state in _lists_of(ended):
        if current := state.progress.current:
            count = "1 entry" if len(current) == 1 else f"{len(current)} entries"
            message = f"the turn ended with {count} in progress: {excerpt(current[0].content)!r}"
            yield Breach("", message, line=history.line, plan=plan_id)


@TURN_RULES.rule(
    "R3",
    "unfinished entries stay on the list",
    "send all entries each time, not only the one that changed; where the work is really off, say so in a message "
    "(version 2 has the status `cancelled`)",
    level=WARNING,
    number_v2="R17",
)
def _shrunk(ended: TurnEnd) -> Iterator[Breach]:
    if ended.stop_reason != STOP_END_TURN:
        return
    for plan_id, history, state in _lists_of(ended):
        if history.shrank is not None and len(history.left) >= FEW_LEFT and state.steps:
            count = len(history.left)
            message = f"{count} unfinished entries left the list and did not come back: {len(state.steps)} stayed"
            yield Breach("", message, line=history.shrank, plan=plan_id)


@TURN_RULES.rule(
    "R2",
    "progress is reported while the work goes on",
    "send an update when an entry is begun and when it is finished",
    level=WARNING,
)
def _not_kept_up(ended: TurnEnd) -> Iterator[Breach]:
    if ended.stop_reason != STOP_END_TURN or ended.turn.tool_calls < WORK_WITHOUT_UPDATE:
        return
    for plan_id, history, state in _lists_of(ended):
        if any(step.is_open for step in state.steps) and not state.progress.current:
            message = f"{ended.turn.tool_calls} tool calls came after this update, and the turn ended without another"
            yield Breach("", message, line=history.line, plan=plan_id)


def _lists_of(ended: TurnEnd) -> Iterator[tuple[PlanId, PlanHistory, PlanState]]:
    """The lists that the turn changed and did not remove."""
    for plan_id, history in ended.session.plans.items():
        state = history.state
        if history.turn == ended.turn.number and state is not None and entries_of(state.plan) is not None:
            yield plan_id, history, state


@END_RULES.rule(
    PRACTICE,
    "priorities are used",
    "mark what the rest depends on as `high`, and as `low` what could be left out; let the model say which",
    level=WARNING,
)
def _unranked(session: CheckedSession) -> Iterator[Breach]:
    for plan_id, history in session.plans.items():
        state = history.state
        if state is not None and entries_of(state.plan) is not None and len(history.priorities) == 1:
            if state.memory.born >= WORTH_RANKING:
                [priority] = history.priorities
                message = f"all of the plan's {state.memory.born} entries had the priority {excerpt(priority)!r}"
                yield Breach("", message, line=history.line, plan=plan_id)


@END_RULES.rule(
    "R3",
    "finished entries stay on the list as completed",
    "keep an entry that is done on the list, with the status `completed`",
    level=WARNING,
    number_v2="R17",
)
def _never_completed(session: CheckedSession) -> Iterator[Breach]:
    for plan_id, history in session.plans.items():
        if history.dropped_at_work >= 2 and not history.has_completed:
            message = f"{history.dropped_at_work} entries left the list while in progress, and none was ever completed"
            yield Breach("", message, line=history.line, plan=plan_id)


@REPLAY_RULES.rule(
    "R37",
    "a replay includes the plan",
    "send the session's plan updates again before you answer; at least the last state of every plan",
    number_v2="R39",
)
def _not_retold(ended: ReplayEnd) -> Iterator[Breach]:
    if not ended.replay.expected:
        return
    for plan_id, history in ended.session.plans.items():
        if history.state is None or is_blank(history.state.plan) or plan_id in ended.session.heard.retold:
            continue
        message = f"`{ended.replay.method}` was answered without a replay of this plan"
        yield Breach("", message, line=ended.line, plan=plan_id)


@REPLAY_RULES.rule(
    "R37",
    "a replay ends with the plan as it was",
    "store the plan with the session, and end the replay with the plan as it is",
    level=WARNING,
    number_v2="R39",
)
def _retold_otherwise(ended: ReplayEnd) -> Iterator[Breach]:
    if not ended.replay.expected:
        return
    for plan_id, retold in ended.session.heard.retold.items():
        history = ended.session.plans.get(plan_id)
        if history is None or history.state is None or retold.plan is None:
            continue
        if _visible(history.state.plan) != _visible(retold.plan):
            message = "the replay ends with another plan than the session did"
            yield Breach("", message, line=ended.line, plan=plan_id)


@REPLAY_RULES.rule(
    "R38",
    "`session/resume` does not replay the history, unless version 2's `replayFrom` asks for it",
    "after `session/resume` send the plan as it is, once, or nothing",
    number_v2="R39",
)
def _unasked_replay(ended: ReplayEnd) -> Iterator[Breach]:
    replay = ended.replay
    if not replay.expected:
        for plan_id, count in replay.updates.items():
            if count > 1:  # one update is the state of the plan, not its history
                message = f"`{replay.method}` replayed the history of a plan, in {count} updates"
                yield Breach("", message, line=replay.first_line or ended.line, plan=plan_id)


@REPLAY_RULES.rule(
    "R40",
    "`session/resume` says how the session stands (version 2)",
    "send a `state_update` after the replay and before the answer",
)
def _no_state(ended: ReplayEnd) -> Iterator[Breach]:
    replay, dialect = ended.replay, ended.dialect
    if replay.method == "session/resume" and dialect is not None and dialect.answers_prompts_at_once:
        if not replay.stated:
            yield Breach("", "`session/resume` was answered without a `state_update`", line=ended.line)


def _visible(plan: Plan) -> object:
    """The part of a plan that people see. Fields for programs may differ from one telling to the next."""
    entries = entries_of(plan)
    if entries is not None:
        return [(entry.content, entry.status, entry.priority) for entry in entries]
    return noun_of(plan), {name: value for name, value in content_of(plan).items() if name != "_meta"}
