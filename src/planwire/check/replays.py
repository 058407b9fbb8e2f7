"""Rules about history that is retold: after `session/load`, and after `session/resume`."""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from planwire.check.facts import CheckedSession, Replay, as_list
from planwire.check.findings import ERROR, WARNING, Breach, Rule
from planwire.model.kinds import is_blank
from planwire.model.plan import Plan, PlanId

__all__ = ["REPLAY_RULES"]

#: A rule, and what finds its breaches when a history has been retold, each with the plan that it is about.
ReplayRule: TypeAlias = tuple[Rule, Callable[[CheckedSession, Replay, int], Iterator[tuple[PlanId, Breach]]]]


def _not_retold(session: CheckedSession, replay: Replay, line: int) -> Iterator[tuple[PlanId, Breach]]:
    for plan_id, history in session.plans.items():
        if replay.expected and history.state is not None and not is_blank(history.state.plan):
            if plan_id not in session.heard.retold:
                yield (
                    plan_id,
                    Breach("", f"`{replay.method}` was answered, and this plan was not told again", line=line),
                )


def _retold_otherwise(session: CheckedSession, replay: Replay, line: int) -> Iterator[tuple[PlanId, Breach]]:
    for plan_id, retold in session.heard.retold.items():
        history = session.plans.get(plan_id)
        if replay.expected and history is not None and history.state is not None and retold.plan is not None:
            if _visible(history.state.plan) != _visible(retold.plan):
                yield (
                    plan_id,
                    Breach("", "the plan that was told again ends otherwise than it was told live", line=line),
                )


def _unasked_replay(session: CheckedSession, replay: Replay, line: int) -> Iterator[tuple[PlanId, Breach]]:
    if not replay.expected:
        for plan_id, count in replay.updates.items():
            if count > 1:  # one update is the state of the plan, not its history
                message = f"`{replay.method}` told the history of a plan again, in {count} updates"
                yield plan_id, Breach("", message, line=replay.first_line or line)


def _visible(plan: Plan) -> object:
    """What people see of a plan: fields that only programs read may differ from one telling to the next."""
    listed = as_list(plan)
    return [(entry.content, entry.status, entry.priority) for entry in listed.entries] if listed else plan


REPLAY_RULES: Final[tuple[ReplayRule, ...]] = (
    (
        Rule(
            "not-retold",
            "R37",
            ERROR,
            "the plan is part of the history that is retold",
            "send the session's plan updates again before you answer; at least the last state of every plan",
            "R39",
        ),
        _not_retold,
    ),
    (
        Rule(
            "retold-otherwise",
            "R37",
            WARNING,
            "a history that is retold ends as it ended",
            "store the plan with the session, and end the replay with the plan as it is",
            "R39",
        ),
        _retold_otherwise,
    ),
    (
        Rule(
            "unasked-replay",
            "R38",
            ERROR,
            "`session/resume` does not retell the history, unless version 2's `replayFrom` asks for it",
            "after `session/resume` send the plan as it is, once, or nothing",
            "R39",
        ),
        _unasked_replay,
    ),
)
