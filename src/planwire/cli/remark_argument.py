"""A remark as people name it on the command line: by its id, or by default the one that they most likely mean."""

from argparse import ArgumentTypeError
from collections.abc import Iterable, Iterator

from planwire.errors import NotFound
from planwire.readmodel.authors import author
from planwire.readmodel.card import PlanCard
from planwire.readmodel.shown import ShownSession
from planwire.steering.wanted import is_remark, remark_number


def remark(text: str) -> str:
    """A type for argparse: the id of a remark."""
    if not is_remark(text):
        raise ArgumentTypeError(f"expected the id of a remark (r1, r2, r3 …: see planwire show), found {text!r}")
    return text


def open_remarks(card: PlanCard) -> Iterator[tuple[str, str]]:
    """The ids of the open remarks on a plan, suggestions too, each with its author."""
    yield from ((each.id, each.by) for each in card.open_remarks)
    yield from ((each.id, each.by) for each in card.suggestions)


def closed_remarks(card: PlanCard) -> Iterator[str]:
    """The ids of the remarks that ended."""
    return (each.id for each in card.closed_remarks)


def all_remarks(card: PlanCard) -> set[str]:
    return {*(each for each, _ in open_remarks(card)), *closed_remarks(card)}


def newest_remark(card: PlanCard, by: str) -> str | None:
    """The newest open remark of the person who acts; None if they have a verdict on the plan that is not sent yet."""
    if _is_pending(card, by):
        return None
    newest = _newest(card, by)
    if newest is None:
        listed = ", ".join(f"{each} by {author(of)}" for each, of in open_remarks(card)) or "none"
        raise NotFound(f"no remark of yours is open on this plan: name one by its id. Open ones: {listed}")
    return newest


def plan_of_remark(session: ShownSession, name: str | None, by: str, *, closed: bool = False) -> PlanCard | None:
    """The plan that a remark is on. Without an id, the plan with the person's pending verdict or newest open remark, or
    with `closed` the plan that ended last."""
    cards = (*session.cards(), *session.dismissed())
    if is_remark(name):
        return next((card for card in cards if name in all_remarks(card)), session.main_card())
    if closed:
        return _last(card for card in cards if card.ended or card.removed) or session.main_card()
    if pending := next((card for card in cards if _is_pending(card, by)), None):
        return pending
    mine = [(remark_number(newest), at) for at, card in enumerate(cards) if (newest := _newest(card, by))]
    return cards[max(mine)[1]] if mine else session.main_card()


def _is_pending(card: PlanCard, by: str) -> bool:
    return card.pending is not None and card.pending.by == by


def _newest(card: PlanCard, by: str) -> str | None:
    mine = [each for each, of in open_remarks(card) if of == by]
    return max(mine, key=remark_number, default=None)


def _last(cards: Iterable[PlanCard]) -> PlanCard | None:
    return max(cards, key=lambda card: card.changed_at, default=None)
