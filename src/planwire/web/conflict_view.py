"""A plan that moved on, for a person who is about to decide again: what happened to it, and what it looks like now."""

from typing import Final

from planwire.readmodel.history import Moment
from planwire.session.moved_on import MovedOn
from planwire.web.difference import difference_view
from planwire.web.history_page import moment_words
from planwire.web.html import EMPTY, Html, el
from planwire.web.times import moment as moment_html

__all__ = ["TOLD", "WORDS", "moved_view"]

#: Events that say something of a plan and leave it as it is.
WORDS: Final = ("plan_reviewed", "review_asked")
#: How many of the events in between are told, the newest ones.
TOLD: Final = 8
#: Rows that are the same, shown before and behind each that is not.
AROUND: Final = 1


def moved_view(moved: MovedOn) -> Html:
    """What became of the plan since the revision that was seen: the difference first, then how it came to be."""
    before, now = moved.before, moved.now
    changed = before is None or now is None or before.state.plan != now.state.plan
    told = [each for each in moved.moments if each.event not in WORDS]
    left_out = len(told) - TOLD
    return el(
        "div",
        difference_view(before, now, AROUND) if changed else EMPTY,
        el("p", f"{left_out:,} more changes, then:", class_="nothing") if left_out > 0 else None,
        el("ol", *(_moment(each) for each in told[-TOLD:]), class_="moments"),
        class_="moved",
    )


def _moment(moment: Moment) -> Html:
    head = el("div", moment_html(moment.at), el("span", el("bdi", moment.by), class_="by"), class_="moment-head")
    return el("li", head, el("ul", *moment_words(moment), class_="words-list"), class_="moment")
