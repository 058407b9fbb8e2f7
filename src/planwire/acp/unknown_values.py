"""Reports of words that readers of a dialect don't know. Other readers drop such an entry; planwire keeps it."""

from collections.abc import Iterator

from planwire.acp.dialects import V1, Dialect
from planwire.acp.messages import Report, Update
from planwire.model.kinds import entries_of


def unknown_values(update: Update, dialect: Dialect) -> Iterator[Report]:
    """A report for each word in an update that readers of the dialect don't know."""
    if update.tag == "plan" and not dialect.baseline:
        yield Report("removed-update", update.path(), "version 2 has no 'plan' update any more", "R29", "it is read")
    entries = entries_of(update.body)
    if entries is None:
        return
    row = V1 if update.tag == "plan" else dialect
    statuses, priorities = row.statuses, row.priorities
    for index, entry in enumerate(entries):
        status, priority = entry.status, entry.priority
        if status in statuses and (priority is None or priority in priorities):
            continue
        for name, word, known in (("status", status, statuses), ("priority", priority, priorities)):
            if word is None or word in known:
                continue
            if row.closed:
                defect, rule = f"{word!r} is not a v1 {name}: other readers drop this entry", "R7"
            elif not word.startswith("_"):
                defect, rule = f"{word!r} is not a {name} of the protocol, and custom ones start with '_'", "R19"
            else:
                continue
            where = update.plan_path(f"entries[{index}].{name}")
            yield Report(f"unknown-{name}", where, defect, rule, "it is kept", word)
