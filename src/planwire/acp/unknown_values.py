"""Reports of words that readers of a dialect don't know. Other readers drop such an entry; planwire keeps it."""

from collections.abc import Iterator

from planwire.acp.dialects import V1, Dialect
from planwire.acp.messages import Report, Update
from planwire.model.kinds import entries_of

__all__ = ["unknown_values"]


def unknown_values(update: Update, dialect: Dialect) -> Iterator[Report]:
    """A report for each word in an update that readers of the dialect don't know."""
    if update.tag == "plan" and not dialect.baseline:
        yield Report("removed-update", "params.update", "version 2 has no 'plan' update any more; it is read", "R29")
    entries = entries_of(update.body)
    if entries is None:
        return
    row = V1 if update.tag == "plan" else dialect
    if all(entry.status in row.statuses and entry.priority in (None, *row.priorities) for entry in entries):
        return
    where = "params.update.entries" if update.tag == "plan" else "params.update.plan.entries"
    for index, entry in enumerate(entries):
        for name, word, known in (
            ("status", entry.status, row.statuses),
            ("priority", entry.priority, row.priorities),
        ):
            if word is None or word in known:
                continue
            if row.closed:
                note = f"{word!r} is no v1 {name}: other readers drop this entry; it is kept"
                yield Report(f"unknown-{name}", f"{where}[{index}].{name}", note, "R7")
            elif not word.startswith("_"):
                note = f"{word!r} is no {name} of the protocol, and a custom one starts with '_'; it is kept"
                yield Report(f"unknown-{name}", f"{where}[{index}].{name}", note, "R19")
