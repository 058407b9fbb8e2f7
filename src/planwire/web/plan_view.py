"""A plan on a page: its name, its progress, the reasons for it, and its steps or its text."""

from functools import lru_cache
from operator import is_
from typing import Final, NamedTuple
from urllib.parse import quote

from msgspec import Struct

from planwire.readmodel.card import PlanCard, Progress
from planwire.readmodel.in_sight import LONG, window
from planwire.readmodel.unseen import LONGEST_RENDERED, line_keys, lines_of
from planwire.web.addresses import plan_address, session_address
from planwire.web.asked_view import answer_part, asked_part, pending_part
from planwire.web.frame import action
from planwire.web.html import Html, el, joined_keys, moment
from planwire.web.page_tree import Part, branch, leaf
from planwire.web.prose import prose
from planwire.web.said_view import said_part, why_part
from planwire.web.steer_view import actions_part, revision_part, steer_values
from planwire.web.steps_view import StepList, drawn_suggestions, progress_view, steps_part

#: Length above which a page shows the steps of a text instead of the text.
LONG_TEXT: Final = 20_000
#: The beginning of an editor's links; the quoted path follows.
EDITORS: Final = {
    "vscode": "vscode://file",
    "vscodium": "vscodium://file",
    "cursor": "cursor://file",
    "windsurf": "windsurf://file",
    "zed": "zed://file",
    "idea": "idea://open?file=",
    "sublime": "subl://open?url=file://",
}


class PlanPlace(Struct, frozen=True):
    """The place of a plan on a page: its session, its id there, whether it is `whole` or a window, the editor for
    files, and whether the page is `live` or about the past. `above` is the address of the step that it works for,
    `below` are the ids on the page of the plans that work for its steps."""

    session: str
    part_id: str
    whole: bool = False
    editor: str | None = None
    live: bool = True
    above: str | None = None
    below: tuple[str, ...] = ()


class _Cards(NamedTuple):
    """A key for the cache: cards compared by identity. A plan that did not change is the same card."""

    card: PlanCard
    before: PlanCard | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Cards) and all(map(is_, self, other))

    def __hash__(self) -> int:
        return hash(tuple(map(id, self)))


def plan_part(place: PlanPlace, card: PlanCard, before: PlanCard | None = None) -> Part:
    """A plan as a part of a page. The same card in the same place is the same part. `before` is the plan that the
    agent's question compares with, if it asks."""
    return _plan_part(place, _Cards(card, before))


@lru_cache(maxsize=256)
def _plan_part(place: PlanPlace, cards: _Cards) -> Part:
    card, before = cards
    part_id = place.part_id
    steerable = place.live and not card.removed
    values = steer_values(place.session, card) if steerable else {}
    progress = f"{part_id}-progress"
    children = (
        _way(place, card) if card.above else None,
        asked_part(part_id, card, before) if steerable else None,
        Part(progress, progress_view(card.progress, card.title, progress)) if card.progress != Progress(0, 0) else None,
        why_part(part_id, card),
        _body(place, card, steerable=steerable),
        said_part(part_id, card, _drawn(place, card), steerable=steerable),
        actions_part(part_id, card) if steerable else None,
        revision_part(part_id, card) if steerable else None,
        pending_part(part_id, card) if steerable else None,
        answer_part(part_id, place.session, card) if steerable else None,
    )
    inside = [child for child in children if child is not None]
    is_folded = (card.ended or (place.live and card.is_folded)) and not place.whole
    inside = [_fold(place, card, inside)] if is_folded else [_head(place, card), *inside]
    ended = " has-ended" if is_folded else ""
    classes = f"plan kind-{card.kind}{ended}"
    return branch(part_id, "article", inside, class_=classes, aria_labelledby=f"{part_id}-name", **values)


def _fold(place: PlanPlace, card: PlanCard, inside: list[Part]) -> Part:
    """A proposal that has ended, or a plan that worked for a step and is over, in one line. It stays unfolded while
    people's remarks on it are open: the agent takes those along to its next proposal."""
    own = f"{place.part_id}-fold"
    title = el("h2", el("bdi", card.title), id=f"{place.part_id}-name")
    far = el("span", str(card.progress), class_="tag") if card.is_folded else None
    name = leaf(
        f"{own}-name", "summary", title, far, *_tags(card), el("span", moment(card.changed_at), class_="origin")
    )
    links = leaf(f"{own}-links", "div", _actions(place, card), class_="plan-head")
    return branch(own, "details", [name, links, *inside], open=bool(card.open_remarks), class_="ended")


def _way(place: PlanPlace, card: PlanCard) -> Part:
    """The steps that a plan works for, with a link to the last of them."""
    words = el("bdi", card.works_for)
    return leaf(
        f"{place.part_id}-way", "p", "for ", el("a", words, href=place.above) if place.above else words, class_="way"
    )


def _head(place: PlanPlace, card: PlanCard) -> Part:
    words = el("bdi", card.title)
    if place.live and not place.whole:
        words = el("a", words, href=plan_address(place.session, card.id))
    title = el("h2", words, id=f"{place.part_id}-name")
    inside = el("div", title, *_tags(card), class_="plan-title"), _actions(place, card)
    return leaf(f"{place.part_id}-head", "header", *inside, class_="plan-head")


def _tags(card: PlanCard) -> list[Html]:
    tags = [el("span", card.subtitle, class_="tag", dir="auto")] if card.subtitle else []
    if card.removed:
        tags.append(el("span", "dismissed", class_="tag tag-cancelled"))
    if card.ended:
        tags.append(el("span", card.ended_words, class_="tag tag-ended"))
    if card.counts_versions:
        tags.append(el("span", f"version {card.version}", class_="tag"))
    if card.mode:
        tags.append(el("span", card.mode, class_="tag"))
    return tags


def _actions(place: PlanPlace, card: PlanCard) -> Html:
    markdown = plan_address(place.session, card.id, ".md")
    links = []
    link = editor_link(place.editor, card.path) if card.path and not card.problem else None
    if link:
        links.append(action("Open in editor", link, data_editor=True))
    if place.live:
        links.append(action("Copy", markdown, data_copy=markdown))
        links.append(action("Export", markdown, download=f"{_file_name(card.id)}.md"))
    if place.whole:
        links.append(action("Back to session", session_address(place.session)))
    return el("nav", *links, class_="actions", aria_label=f"actions for {card.title}")


def editor_link(editor: str | None, path: str) -> str | None:
    """The link that opens a file in an editor on this machine, with the scheme that the editor registers for it; None
    without an editor."""
    if editor is None:
        return None
    safe = "" if "?" in EDITORS[editor] else "/"
    return EDITORS[editor] + quote(path, safe=safe)


def _file_name(plan_id: str | None) -> str:
    kept = "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in plan_id or "plan").strip("-")
    return kept[:60] or "plan"


def _is_whole(place: PlanPlace, card: PlanCard) -> bool:
    return place.whole or (place.live and card.question is not None)


def _is_text(place: PlanPlace, card: PlanCard) -> bool:
    """Whether the text of a plan is on the page, rather than a list of the steps in it."""
    is_long = card.rows and (len(card.rows) > LONG or len(card.text) > LONG_TEXT)
    return bool(card.text) and (_is_whole(place, card) or not is_long)


def _drawn(place: PlanPlace, card: PlanCard) -> frozenset[str]:
    """The ids of the suggestions drawn at the steps on the page."""
    if _is_text(place, card):
        shown = range(len(card.rows) if len(card.text) <= LONGEST_RENDERED else 0)
    else:
        shown = range(len(card.rows)) if _is_whole(place, card) else window(card)
    return drawn_suggestions(card, shown)


def _body(place: PlanPlace, card: PlanCard, *, steerable: bool) -> Part:
    part_id = f"{place.part_id}-body"
    if card.uri is not None and (card.problem or not card.text):
        problem = el("p", card.problem) if card.problem else None
        return leaf(part_id, "div", problem, el("code", card.uri), class_="problem", data_unread=bool(problem))
    if card.fields:
        keys = joined_keys(line_keys(lines_of(card)))
        fields = el("code", card.fields, data_lines=keys)
        return leaf(part_id, "pre", fields, class_="raw", tabindex=0, role="region", aria_label="fields")
    usable = steerable and card.can_change
    if _is_text(place, card):
        html = prose(card, place.part_id, usable=usable, steerable=steerable)
        return leaf(part_id, "div", html, class_="text")
    if not card.rows and not card.ghosts:
        return leaf(part_id, "p", "This list is empty.", class_="nothing")
    more = None if _is_whole(place, card) else plan_address(place.session, card.id)
    children = (child.id for row in card.rows for child in row.children)
    below = tuple(zip(children, place.below, strict=False))
    return steps_part(StepList(place.part_id, usable, steerable, more, below), card)
