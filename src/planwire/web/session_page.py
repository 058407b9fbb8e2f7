"""The page of a session: agent and folder, progress, the current steps, and all of its plans."""

from typing import Final, NamedTuple

from planwire.readmodel.answers import asked_moments, asked_words
from planwire.readmodel.card import PlanCard, PlanId, Progress
from planwire.readmodel.overview import Overview, state_name, state_words
from planwire.readmodel.plan_tree import PlanNode, forest
from planwire.readmodel.shown import ShownSession
from planwire.web.addresses import OVERVIEW, plan_address, session_address
from planwire.web.frame import action, top_line
from planwire.web.html import EMPTY, Html, el, joined, moment, time_span
from planwire.web.page_tree import Part, branch, leaf
from planwire.web.plan_view import PlanPlace, plan_part
from planwire.web.status_look import wording
from planwire.web.steps_view import progress_view

#: Current steps that are named; a count stands for the rest.
NAMED: Final = 3


class PlanContext(NamedTuple):
    """What a page shows beside the plans of a session: an editor for files, the agent's thoughts by plan, the plans
    that its questions compare with, and words for a journal whose server is away."""

    editor: str | None
    thinking: dict[PlanId, str]
    before: dict[PlanId, PlanCard]
    away: str | None = None


def session_page(session: ShownSession, context: PlanContext) -> Part:
    """All plans of a session."""
    plans = [_tree(session, node, context) for node in forest(session.cards(context.thinking))]
    if not plans:
        words = "No plans left: all were dismissed." if session.dismissed() else "No plan yet."
        plans = [leaf("no-plans", "p", words, class_="nothing")]
    children = _head(session, session.cards()), branch("plans", "div", plans, class_="plans"), _dismissed(session)
    return branch("content", "main", (*_away(context), *children), class_="session")


def plan_page(session: ShownSession, plan_id: PlanId, context: PlanContext) -> Part:
    """One plan with all its steps, or its whole text."""
    card = session.card(plan_id, context.thinking)
    if card is None:
        return gone_page()
    plans = branch("plans", "div", [_plan(session, card, context, whole=True)], class_="plans")
    return branch("content", "main", (*_away(context), _head(session, (card,)), plans), class_="session whole")


def gone_page() -> Part:
    """The page for watchers of a session that is no longer in the journal."""
    words = el("p", "This session is no longer in the journal.", class_="nothing")
    gone = leaf("gone", "div", words, el("p", action("All sessions", OVERVIEW)))
    return branch("content", "main", [gone], class_="words-page")


def _away(context: PlanContext) -> tuple[Part, ...]:
    return (leaf("trouble", "p", context.away, class_="trouble", role="alert"),) if context.away else ()


def _tree(session: ShownSession, node: PlanNode, context: PlanContext) -> Part:
    """A plan, and below it those that work for its steps."""
    plan = _plan(session, node.card, context)
    if not node.below:
        return plan
    below = branch(f"{plan.id}-under", "div", [_tree(session, each, context) for each in node.below], class_="under")
    return branch(f"{plan.id}-tree", "div", [plan, below], class_="tree")


def _plan(session: ShownSession, card: PlanCard, context: PlanContext, *, whole: bool = False) -> Part:
    above = None
    if card.parent:
        page = plan_address(session.id, card.parent.plan_id) if whole else ""
        above = f"{page}#{_part_id(session, card.parent.plan_id)}-{card.parent.step}"
    below = () if whole else tuple(_part_id(session, child.id) for row in card.rows for child in row.children)
    place = PlanPlace(session.id, _part_id(session, card.id), whole, context.editor, above=above, below=below)
    return plan_part(place, card, context.before.get(card.id))


def _part_id(session: ShownSession, plan_id: PlanId) -> str:
    return f"p{list(session.journalled.plans).index(plan_id)}"


def _head(session: ShownSession, cards: tuple[PlanCard, ...]) -> Part:
    """The head in parts: one that seldom changes, and three that change with every step or word. `cards` are the plans
    on the page."""
    glance = session.glance
    progress = Progress(glance.done, glance.total, (), glance.cancelled)
    bar = progress_view(progress, "the session", "session-progress") if glance.total else None
    children = [_top(session), *([Part("session-progress", bar)] if bar is not None else [])]
    children += [_reach(session, cards), _now(glance)]
    return branch("session-head", "header", children, class_="session-head")


def _top(session: ShownSession) -> Part:
    glance = session.glance
    title = el("div", el("h1", el("bdi", session.name)), state_badge(glance, why=True), class_="session-title")
    own = session_address(session.id)
    top = top_line(title, action("History", f"{own}/history"), action("JSON", f"{own}.json"))
    facts = el("p", *_facts(session), class_="facts")
    return leaf(
        "session-top",
        "div",
        top,
        facts,
        class_="session-top",
        data_state=glance.state,
        data_asked=", ".join(filter(None, map(asked_words, session.cards()))) or None,
        data_question=asked_moments(session.cards()) or None,
    )


def _reach(session: ShownSession, cards: tuple[PlanCard, ...]) -> Part:
    """The acts on the agent itself, as far as it can be reached: tell it now what it has not heard, and stop it."""
    unheard = session.unheard
    inside: list[Html] = []
    for act, label, fits in (("tell", "Tell it now", unheard), ("stop", "Stop", session.glance.is_working)):
        card = next((each for each in cards if act in each.acts), None) if fits else None
        if card is not None:
            on = _part_id(session, card.id)
            inside.append(el("button", label, type="button", class_="quiet", data_act=act, data_plan=on))
    if inside and unheard:
        inside.insert(0, el("span", f"Queued for the agent: {unheard:,}"))
    return leaf("session-reach", "div", *inside, class_="reach")


def state_badge(glance: Overview, *, why: bool = False) -> Html:
    """The state of a session in a word or two; and `why` it stopped, or how long it has been quiet, if asked for."""
    quiet = (" for ", time_span(glance.last_at)) if why and glance.is_quiet else ()
    return el("span", state_words(glance, why=why), *quiet, class_=f"state state-{glance.state}")


def _facts(session: ShownSession) -> list[Html]:
    glance = session.glance
    facts = [
        el("span", el("span", f"{name} ", class_="unseen"), el("bdi", value), class_=f"fact fact-{name}")
        for name, value in (
            ("agent", glance.agent),
            ("client", glance.client),
            ("folder", glance.cwd),
            ("repository", glance.repository),
            ("account", "@".join(filter(None, (glance.user, glance.host)))),
        )
        if value
    ]
    return [*facts, el("span", "started ", moment(glance.first_at), class_="fact"), *_forks(glance)]


def _forks(glance: Overview) -> list[Html]:
    """The session that it was forked from, and its own forks."""
    facts = []
    if glance.forked:
        origin = el("a", el("bdi", glance.forked.session), href=session_address(glance.forked.session))
        facts.append(el("span", "forked from ", origin, f" at event {glance.forked.seq:,}", class_="fact"))
    if glance.forks:
        links = [
            joined(" ", el("a", el("bdi", each.session), href=session_address(each.session))) for each in glance.forks
        ]
        facts.append(el("span", "forks:", *links, class_="fact"))
    return facts


def _now(glance: Overview) -> Part:
    """The current steps, always in sight, and the words for a screen reader when they change."""
    current, stopped = glance.current, not glance.goes_on
    label = "Stopped at" if stopped else "Now"
    words = [f"{glance.done} of {glance.total} steps done"] if glance.total else []
    words += [f"{label}: {current[0]}"] if current else []
    words += [state_name(glance.state)] if glance.asked else []
    steps = [el("li", el("bdi", wording(step))) for step in current[:NAMED]]
    if len(current) > NAMED:
        steps.append(el("li", f"and {len(current) - NAMED} more"))
    inside = (el("span", label, class_="label"), el("ul", *steps)) if steps else ()
    kind = ("now is-stopped" if stopped else "now") if steps else None
    return leaf("session-now", "div", *inside, class_=kind, data_announce=". ".join(words) or None)


def _dismissed(session: ShownSession) -> Part:
    rows = [_dismissed_row(session.id, card) for card in session.dismissed()]
    inside = el("details", el("summary", f"Dismissed plans ({len(rows)})"), el("ul", *rows)) if rows else EMPTY
    return leaf("dismissed", "section", inside, class_="dismissed")


def _dismissed_row(session: str, card: PlanCard) -> Html:
    count = f" {card.progress.done} of {card.progress.total} done, " if card.progress.total else " "
    name = el("a", el("bdi", card.title), href=plan_address(session, card.id))
    reopen = el("button", "Reopen", type="button", class_="on-remark", data_reopen=plan_address(session, card.id))
    return el("li", name, count, "dismissed ", moment(card.changed_at), " ", reopen)
