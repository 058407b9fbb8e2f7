"""Rules about replays: the history that an agent tells again after `session/load` or `session/resume`."""

from collections.abc import Iterator
from typing import Final

from planwire.check.facts import ReplayEnd
from planwire.check.findings import WARNING, Breach, RuleFamily
from planwire.model.kinds import entries_of, is_blank
from planwire.model.plan import Plan

__all__ = ["REPLAY_RULES"]

REPLAY_RULES: Final = RuleFamily[ReplayEnd]()


@REPLAY_RULES.rule(
    "R37",
    "the plan is part of the history that is retold",
    "send the session's plan updates again before you answer; at least the last state of every plan",
    number_v2="R39",
)
def _not_retold(ended: ReplayEnd) -> Iterator[Breach]:
    if not ended.replay.expected:
        return
    for plan_id, history in ended.session.plans.items():
        if history.state is None or is_blank(history.state.plan) or plan_id in ended.session.heard.retold:
            continue
        message = f"`{ended.replay.method}` was answered, and this plan was not told again"
        yield Breach("", message, line=ended.line, plan=plan_id)


@REPLAY_RULES.rule(
    "R37",
    "a history that is retold ends as it ended",
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
            message = "the plan that was told again ends otherwise than it was told live"
            yield Breach("", message, line=ended.line, plan=plan_id)


@REPLAY_RULES.rule(
    "R38",
    "`session/resume` does not retell the history, unless version 2's `replayFrom` asks for it",
    "after `session/resume` send the plan as it is, once, or nothing",
    number_v2="R39",
)
def _unasked_replay(ended: ReplayEnd) -> Iterator[Breach]:
    replay = ended.replay
    if not replay.expected:
        for plan_id, count in replay.updates.items():
            if count > 1:  # one update is the state of the plan, not its history
                message = f"`{replay.method}` told the history of a plan again, in {count} updates"
                yield Breach("", message, line=replay.first_line or ended.line, plan=plan_id)


def _visible(plan: Plan) -> object:
    """The part of a plan that people see. Fields for programs may differ from one telling to the next."""
    entries = entries_of(plan)
    return plan if entries is None else [(entry.content, entry.status, entry.priority) for entry in entries]
