"""The page of a session: agent and folder, progress, the current steps, and all of its plans."""

from typing import Final, NamedTuple

from planwire.model.fold import PlanRecord
from planwire.model.plan import PlanId
from planwire.model.steps import Progress
from planwire.readmodel.history import plan_name
from planwire.readmodel.overview import STOPPED, total_progress
from planwire.readmodel.sessions import ShownSession
from planwire.readmodel.states import stop_words
from planwire.web.addresses import OVERVIEW, plan_address, session_address
from planwire.web.frame import action, top_line
from planwire.web.html import EMPTY, Html, el, moment
from planwire.web.page_tree import Part, branch, leaf
from planwire.web.plan_view import Shown, plan_part
from planwire.web.status_look import wording
from planwire.web.steps_view import progress_view

__all__ = ["PlanContext", "gone_page", "plan_page", "session_name", "session_page", "state_badge"]

#: Current steps with their names.
NAMED: Final = 3


class PlanContext(NamedTuple):
    """What goes with the plans of a session: an editor for files, the agent's words when it set a plan, and the plans
    that its questions compare with."""

    editor: str | None
    said: dict[PlanId, str]
    before: dict[PlanId, PlanRecord]


def session_page(session: ShownSession, context: PlanContext) -> Part:
    """All plans of a session in the order of their arrival: first those that ask a person, then those with steps, then
    those to read."""
    live = session.state.live()
    order = sorted(live, key=lambda plan_id: (not live[plan_id].asked, not live[plan_id].state.steps))
    plans = [_plan(session, plan_id, context) for plan_id in order]
    if not plans:
        words = "No plans left: all were dismissed." if session.state.plans else "No plan yet."
        plans = [leaf("no-plans", "p", words, class_="nothing")]
    children = _head(session), branch("plans", "div", plans, class_="plans"), _dismissed(session)
    return branch("content", "main", children, class_="session")


def plan_page(session: ShownSession, plan_id: PlanId, context: PlanContext) -> Part:
    """One plan with all its steps, or its whole text."""
    if plan_id not in session.state.plans:
        return gone_page()
    plans = branch("plans", "div", [_plan(session, plan_id, context, whole=True)], class_="plans")
    return branch("content", "main", (_head(session), plans), class_="session whole")


def gone_page() -> Part:
    """The page for watchers of a session that is no longer in the journal."""
    words = el("p", "This session is no longer in the journal.", class_="nothing")
    gone = leaf("gone", "div", words, el("p", action("All sessions", OVERVIEW)))
    return branch("content", "main", [gone], class_="words-page")


def _plan(session: ShownSession, plan_id: PlanId, context: PlanContext, *, whole: bool = False) -> Part:
    part_id = f"p{list(session.state.plans).index(plan_id)}"
    stopped, client = session.state.stopped is not None, session.glance.client
    shown = Shown(session.id, part_id, stopped, whole, context.editor, said=context.said.get(plan_id), client=client)
    return plan_part(shown, session.state.plans[plan_id], session.files.get(plan_id), context.before.get(plan_id))


def session_name(session: ShownSession) -> str:
    """The name of a session: its title, or else its id."""
    return session.glance.title or session.id


def _head(session: ShownSession) -> Part:
    """The head in parts: one that seldom changes, and two that change with every step."""
    progress = total_progress(session.state)
    bar = progress_view(progress, "the session", "session-progress") if progress.total else None
    children = [
        _top(session),
        *([Part("session-progress", bar)] if bar is not None else []),
        _now(progress, session.state.stopped is not None, session.glance.asked),
    ]
    return branch("session-head", "header", children, class_="session-head")


def _top(session: ShownSession) -> Part:
    glance = session.glance
    name = el("h1", el("bdi", session_name(session)))
    title = el("div", name, state_badge(glance.state, glance.stop_reason, glance.asked), class_="session-title")
    own = session_address(session.id)
    top = top_line(title, action("History", f"{own}/history"), action("JSON", f"{own}.json"))
    facts = el("p", *_facts(session), class_="facts")
    asked = [plan_name(plan_id) for plan_id, record in session.state.live().items() if record.asked]
    news = {"data_state": glance.state, "data_asked": asked[0] if asked else None}
    return leaf("session-top", "div", top, facts, class_="session-top", **news)


def state_badge(state: str, reason: str | None, asked: bool) -> Html:
    """The state of a session in a word, or in three if it waits for a review, and why it stopped."""
    why = f": {stop_words(reason)}" if reason and state == STOPPED else ""
    if asked:
        return el("span", "waiting for review", class_="state state-review")
    return el("span", state, why, class_=f"state state-{state}")


def _facts(session: ShownSession) -> list[Html]:
    glance = session.glance
    facts = [
        el("span", el("span", f"{name} ", class_="unseen"), el("bdi", value), class_=f"fact fact-{name}")
        for name, value in (("agent", glance.agent), ("client", glance.client), ("folder", glance.cwd))
        if value
    ]
    return [*facts, el("span", "since ", moment(glance.first_at), class_="fact")]


def _now(progress: Progress, stopped: bool, asked: bool) -> Part:
    """The current steps, always in sight, and the words for a screen reader when they change."""
    current = progress.current
    label = "Stopped at" if stopped else "Now"
    words = [f"{progress.done} of {progress.total} steps done"] if progress.total else []
    words += [f"{label}: {current[0].content}"] if current else []
    words += ["Waiting for your review"] if asked else []
    steps = [el("li", el("bdi", wording(step.content))) for step in current[:NAMED]]
    if len(current) > NAMED:
        steps.append(el("li", f"and {len(current) - NAMED} more"))
    inside = (el("span", label, class_="label"), el("ul", *steps)) if steps else ()
    kind = ("now is-stopped" if stopped else "now") if steps else None
    return leaf("session-now", "div", *inside, class_=kind, data_announce=". ".join(words) or None)


def _dismissed(session: ShownSession) -> Part:
    rows = [_dismissed_row(session.id, record) for record in session.state.plans.values() if record.removed]
    inside = el("details", el("summary", f"Dismissed plans ({len(rows)})"), el("ul", *rows)) if rows else EMPTY
    return leaf("dismissed", "section", inside, class_="dismissed")


def _dismissed_row(session: str, record: PlanRecord) -> Html:
    plan_id, progress = record.state.plan.id, record.state.progress
    count = f" {progress.done} of {progress.total} done, " if progress.total else " "
    name = el("a", el("bdi", plan_name(plan_id)), href=plan_address(session, plan_id))
    return el("li", name, count, "dismissed ", moment(record.changed_at))
