"""Sessions in a list: a row for each, and an item with its questions for one that needs a person."""

from functools import lru_cache
from operator import is_
from typing import NamedTuple

from planwire.readmodel.answers import asked_moments, asked_words
from planwire.readmodel.card import PlanCard, Progress
from planwire.readmodel.facets import facet_of
from planwire.readmodel.overview import RUNNING, Overview, state_name
from planwire.web.addresses import encode_id, session_address
from planwire.web.asked_view import answer_form, question_view
from planwire.web.html import EMPTY, Html, el, moment, sign_of_life
from planwire.web.page_tree import Part, leaf
from planwire.web.session_page import state_badge
from planwire.web.status_look import wording
from planwire.web.steps_view import progress_view


class Asking(NamedTuple):
    """A plan that needs a person, and the plan that they knew before. A key for the cache: cards are compared by
    identity, and a plan that did not change is the same card."""

    card: PlanCard
    before: PlanCard | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Asking) and all(map(is_, self, other))

    def __hash__(self) -> int:
        return hash(tuple(map(id, self)))


@lru_cache(maxsize=4_096)
def session_row(glance: Overview, facets: tuple[str, ...] = ()) -> Part:
    """A session in one row, with those of its facets in which the sessions of the page differ."""
    progress = Progress(glance.done, glance.total, (), glance.cancelled)
    empty = el("div", "no steps yet" if glance.plans else "no plan yet", class_="progress none")
    bar = progress_view(progress, glance.name, brief=True) if glance.total else empty
    current = el("p", el("bdi", wording(glance.current[0])), class_="current") if glance.current else EMPTY
    return leaf(
        _row_id(glance),
        "li",
        _who(glance, facets),
        el("div", bar, current, class_="far"),
        _when(glance),
        class_=f"session-row row-{glance.state}",
        data_status=glance.state,
        data_asked=state_name(glance.state) if glance.asked else None,
    )


@lru_cache(maxsize=256)
def inbox_item(glance: Overview, asking: tuple[Asking, ...], facets: tuple[str, ...] = ()) -> Part:
    """A session that needs a person, with what its plans ask and the answers to it."""
    row_id = _row_id(glance)
    questions = []
    for card, before in asking:
        question, hidden = question_view(glance.id, card, before)
        form = answer_form(f"{row_id}-{encode_id(card.id)}", glance.id, card, hidden=hidden, where=f", {glance.name}")
        questions.append(el("div", question, form, class_="asking"))
    return leaf(
        row_id,
        "li",
        _who(glance, facets),
        _when(glance),
        *questions,
        class_=f"session-row inbox-item row-{glance.state}",
        data_status=glance.state,
        data_asked=", ".join(asked_words(each.card) for each in asking) or state_name(glance.state),
        data_question=asked_moments(each.card for each in asking) or None,
    )


def _row_id(glance: Overview) -> str:
    return f"o-{encode_id(glance.id)}"


def _who(glance: Overview, facets: tuple[str, ...]) -> Html:
    link = el("a", el("bdi", glance.name), href=session_address(glance.id), class_="session-link")
    facts = [
        el("span", el("bdi", value), class_=f"fact fact-{kind}")
        for kind, value in (
            ("agent", glance.agent),
            *((facet, facet_of(glance, facet)) for facet in facets),
            ("folder", glance.cwd),
        )
        if value
    ]
    return el("div", link, el("p", *facts, class_="facts"), class_="who")


def _when(glance: Overview) -> Html:
    """The state, and the age of the last sign of life: to the second for a session that runs."""
    heard = sign_of_life(glance.last_at) if glance.state == RUNNING else moment(glance.last_at)
    return el("div", state_badge(glance), heard, class_="when")
