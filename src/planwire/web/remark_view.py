"""A remark on a page: its words and author, how far it has come, and what its agent answered.

Everything here is made of spans, since a remark may stand inside a paragraph of a plan's text.
"""

from typing import Final

from planwire.readmodel.annotations import RemarkCard
from planwire.readmodel.authors import author
from planwire.readmodel.plain_text import in_quotes, shortened
from planwire.steering.wanted import is_remark
from planwire.web.html import EMPTY, Html, el, joined, moment, time_of_day

#: Length of the text in the name of a button.
LONG_NAME: Final = 80
#: Steps to run that are named; a count stands for the rest.
NAMED: Final = 6


def remark_button(act: str, label: str, remark: str, what: str) -> Html:
    """A button for an act on a remark, with a name that says which one."""
    name = f"{label}: {shortened(what, LONG_NAME)}"
    return el("button", label, type="button", class_="on-remark", data_act=act, data_target=remark, aria_label=name)


def delivery_badge(delivery: str, heard: str, told_at: int | None) -> Html:
    """How far a person's word has come; under the pointer, when the agent will hear it."""
    seen = joined(" ", time_of_day(told_at)) if told_at is not None and not heard and delivery == "Seen" else EMPTY
    return el("span", delivery, seen, class_=f"delivery delivery-{delivery.lower()}", title=heard or None)


def remark_words(remark: RemarkCard, *, steerable: bool, named: bool = False) -> Html:
    """A remark with its author, state and answers; if `named`, also with what it is about, where its place does not say
    so."""
    about = (
        el("q", shortened(remark.about, LONG_NAME * 2), class_="quoted", dir="auto") if remark.about and named else None
    )
    words = remark.text or (f"run {_names(remark.steps)}" if remark.steps else "")
    said = el("span", words, class_="said", dir="auto") if words else None
    kept = el("span", "kept in force", class_="tag") if remark.kept and remark.is_open else None
    badge = delivery_badge(remark.delivery, remark.heard, remark.told_at)
    origin = el(
        "span",
        el("span", "— ", author(remark.by), " ", moment(remark.at)),
        kept,
        badge,
        _end(remark),
        _button(remark, words) if steerable else None,
        class_="origin",
    )
    answers = (
        el(
            "span",
            el("b", author(each.by)),
            " ",
            el("span", each.text, dir="auto"),
            " ",
            moment(each.at),
            class_="answer",
        )
        for each in remark.answers
    )
    stale = el("span", remark.stale, class_="stale", dir="auto") if remark.stale else None
    return joined(about, said, " ", origin, stale, *answers)  # a line may break here


def _button(remark: RemarkCard, words: str) -> Html:
    act, label = ("withdraw", "Withdraw") if remark.is_open else ("reopen", "Reopen")
    return remark_button(act, label, remark.id, words or remark.label)


def _end(remark: RemarkCard) -> Html | None:
    """Who closed it, when, and why, unless an answer says so. The id of the remark that replaced it is not shown as a
    reason."""
    if remark.closed_at is None:
        return None
    is_said = is_remark(remark.why_closed) or remark.why_closed in (each.text for each in remark.answers)
    why = "" if is_said or not remark.why_closed else f": {remark.why_closed}"
    return el("span", "by ", author(remark.closed_by), " ", moment(remark.closed_at), why)


def _names(steps: tuple[str, ...]) -> str:
    more = [f"and {len(steps) - NAMED} more"] if len(steps) > NAMED else []
    return ", ".join([*(in_quotes(shortened(step, LONG_NAME)) for step in steps[:NAMED]), *more])
