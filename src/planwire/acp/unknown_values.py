"""What readers of a dialect don't know and would drop, reported; planwire keeps it."""

from collections.abc import Iterator

from planwire.acp.dialects import V1_PRIORITIES, V1_STATUSES, Dialect
from planwire.acp.messages import Report, Update
from planwire.model.plan import ItemsPlan
from planwire.model.statuses import CANCELLED

__all__ = ["foreign_values"]

_V1_OR_MISSING = V1_PRIORITIES | {None}


def foreign_values(update: Update, dialect: Dialect) -> Iterator[Report]:
    """A note for each thing that readers of the dialect don't know: they drop it, planwire does not."""
    if update.sort == "plan" and not dialect.baseline:
        yield Report("removed-update", "params.update", "version 2 has no 'plan' update any more; it is read", "R29")
    if not isinstance(update.body, ItemsPlan):
        return
    closed = dialect.closed or update.sort == "plan"
    if closed and {entry.status for entry in update.body.entries} <= V1_STATUSES:
        if {entry.priority for entry in update.body.entries} <= _V1_OR_MISSING:
            return
    where = "params.update.entries" if update.sort == "plan" else "params.update.plan.entries"
    for index, entry in enumerate(update.body.entries):
        for name, word, known in (
            ("status", entry.status, V1_STATUSES),
            ("priority", entry.priority, V1_PRIORITIES),
        ):
            if word is None or word in known:
                continue
            if closed:
                note = f"{word!r} is no v1 {name}: other readers drop this entry; it is kept"
                yield Report(f"unknown-{name}", f"{where}[{index}].{name}", note, "R7")
            elif word != CANCELLED and not word.startswith("_"):
                note = f"{word!r} is no {name} of the protocol, and a custom one starts with '_'; it is kept"
                yield Report(f"unknown-{name}", f"{where}[{index}].{name}", note, "R19")
