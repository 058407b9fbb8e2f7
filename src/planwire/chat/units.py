"""What belongs together in a stream: a call and its results, and the items of one answer."""

from collections.abc import Sequence

from planwire.chat.formats import CallRef, Format, still_open
from planwire.chat.messages import Ordinary, Stored

__all__ = ["units"]


def units(messages: Sequence[Stored], form: Format) -> list[range]:
    """The stream in pieces that must not be torn apart, as ranges of indexes."""
    found: list[range] = []
    start = 0
    calls: dict[tuple[int, int], CallRef] = {}
    follows_model = False
    for index, message in enumerate(messages):
        fields = message.message if isinstance(message, Ordinary) else None
        of_model = fields is not None and form.is_of_model(fields)
        results = form.results(fields) if calls and fields is not None else ()
        if calls and fields is not None and not of_model and not results:
            calls = {}  # they were interrupted
        if index > start and not calls and not (follows_model and of_model):
            found.append(range(start, index))
            start = index
        follows_model = of_model
        if results:
            calls = still_open(calls, results)
        if fields is not None:
            calls.update(((index, number), call) for number, call in enumerate(form.calls(fields)))
    if messages:
        found.append(range(start, len(messages)))
    return found
