"""The difference of one plan at two moments: its steps and its lines, side by side."""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeVar

from planwire.readmodel.card import PlanCard, StepRow
from planwire.readmodel.compare import Comparison, PairedLine, PairedRow, SaidBetween, compare_cards, near_changes
from planwire.web.html import EMPTY, Html, clock, el, joined
from planwire.web.status_look import mark, wording
from planwire.web.steps_view import tag_view

_ABSENT: Final = el("td", el("span", "none", class_="unseen"), class_="absent")
_Paired = TypeVar("_Paired", PairedRow, PairedLine)


class _Fold(NamedTuple):
    """Equal rows to show around each change (None: all of them), and the address of a view with all rows."""

    around: int | None
    whole: str | None


def difference_view(before: PlanCard | None, after: PlanCard | None, around: int | None = None) -> Html:
    """The change of a plan. With `around`, it leaves out equal rows farther than that from a change."""
    return comparison_view(compare_cards(before, after), around)


def brief_difference(compared: Comparison) -> Html:
    """The rows of a plan that changed, and nothing else: its lines, or its steps if it has no text."""
    fold = _Fold(0, None)
    if compared.is_same:
        return el("p", "Nothing changed.", class_="nothing")
    steps = _table("Before", "After", _near(compared.rows, fold, "steps", _row), "pairs") if compared.rows else EMPTY
    return _text(compared, fold) or steps


def comparison_view(compared: Comparison, around: int | None = None, whole: str | None = None) -> Html:
    """The same for a comparison that was already made; `whole` is the address of a view with all rows."""
    if compared.before is None and compared.after is None:
        return el("p", "The plan is not there.", class_="nothing")
    fold = _Fold(around, whole)
    words = None
    if compared.is_same:
        words = el("p", "The agent's plan is the same." if compared.said else "Nothing changed.", class_="nothing")
    said = el("ul", *map(_said, compared.said), class_="said-between") if compared.said else None
    steps = _table("Before", "After", _near(compared.rows, fold, "steps", _row), "pairs") if compared.rows else None
    return joined(_versions(compared), said, words, steps, _text(compared, fold))


def _versions(compared: Comparison) -> Html:
    sides = [
        el("span", f"version {card.version} · ", clock(card.changed_at)) if card else el("span", "not there")
        for card in (compared.before, compared.after)
    ]
    return el("p", *sides, class_="sides")


def _said(said: SaidBetween) -> Html:
    spoken = el("span", f"{said.kind}: ", class_="unseen")
    words = el("b", said.who), " ", el("span", said.text, dir="auto")
    return el("li", spoken, *words, class_=f"pair-{said.kind}", data_said=said.kind)


def _row(pair: PairedRow) -> Html:
    cells = _cell(pair.before), _cell(pair.after, has_moved=pair.has_moved)
    return el("tr", *cells, class_=f"pair-{pair.kind}", data_pair=pair.kind, data_lines=pair.key or None)


def _cell(row: StepRow | None, *, has_moved: bool = False) -> Html:
    if row is None:
        return _ABSENT
    tags = [*map(tag_view, row.tags)]
    if has_moved:
        tags.append(el("span", "moved", class_="tag"))
    words = el("span", wording(row.text), class_="words", dir="auto")
    return el("td", el("div", mark(row), words, *tags, class_="cell"), class_=f"is-{row.look}")


def _text(compared: Comparison, fold: _Fold) -> Html:
    if compared.too_long is not None:
        one, other = compared.too_long
        return el("p", f"The texts have {one:,} and {other:,} lines: too many to compare here.")
    if not compared.lines:
        return EMPTY
    return _table("Text before", "Text after", _near(compared.lines, fold, "lines", _line), "pairs lines")


def _line(pair: PairedLine) -> Html:
    cells = [_ABSENT if each is None else el("td", each) for each in (pair.before, pair.after)]
    return el("tr", *cells, class_=f"pair-{pair.kind}", data_lines=pair.key or None)


def _near(pairs: tuple[_Paired, ...], fold: _Fold, what: str, draw: Callable[[_Paired], Html]) -> Iterable[Html]:
    """The changed rows and their neighbours, with a count in place of the others."""
    for each in near_changes(pairs, fold.around):
        if isinstance(each, int):
            count = f"{each:,} unchanged {what}"
            inside = el("a", count, href=fold.whole) if fold.whole else count
            yield el("tr", el("td", inside, colspan=2), class_="left-out")
        else:
            yield draw(each)


def _table(before: str, after: str, rows: Iterable[Html], kind: str) -> Html:
    head = el("thead", el("tr", el("th", before, scope="col"), el("th", after, scope="col")))
    return el("table", head, el("tbody", *rows), class_=kind)
