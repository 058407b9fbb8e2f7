"""A change as lines of text: what came, went, moved, and how far the work is."""

from collections.abc import Iterator

from rich.text import Text

from planwire.acp import Report
from planwire.acp.board import Change, PlanChange
from planwire.model.diff import Changed
from planwire.model.plan import MarkdownPlan
from planwire.model.statuses import meaning
from planwire.readmodel.plain_text import one_line
from planwire.terminal.views import STATUS_LOOK, bar, step_line

__all__ = ["change_lines", "fresh_steps", "report_line"]


def change_lines(change: Change) -> Iterator[Text]:
    """The lines that tell a change, a headline for each plan."""
    for plan in change.plans:
        yield _headline(plan)
        yield from (Text("    ").append_text(line) for line in _details(plan))


def report_line(report: Report, number: int) -> Text:
    """A report, with the number of the line that it is about."""
    where = f"line {number}, {one_line(report.where)}" if report.where else f"line {number}"
    line = Text.assemble(("! ", "yellow"), (where, "yellow"), f": {one_line(report.message)}")
    return line.append(f"  [{report.rule}]", "dim") if report.rule else line


def fresh_steps(change: Change) -> set[str]:
    """The ids of the steps that a change is about."""
    return {
        item.step.id
        for plan in change.plans
        for items in (plan.diff.added, plan.diff.moved, plan.diff.reworded, plan.diff.status, plan.diff.priority)
        for item in items
    }


def _headline(plan: PlanChange) -> Text:
    what = "new" if plan.before is None else "gone" if plan.after is None else "changed"
    line = Text.assemble("  ", (one_line(plan.id) if plan.id is not None else "plan", "bold"), (f" {what}", "dim"))
    if plan.after is not None and plan.after.steps:
        progress = plan.after.progress
        line.append("  ").append_text(bar(progress)).append(f"  {progress.done}/{progress.total}", "bold")
    return line


def _details(plan: PlanChange) -> Iterator[Text]:
    diff = plan.diff
    if plan.after is not None:
        yield from (Text("+ ", "bold green").append_text(step_line(item.step)) for item in diff.added)
        yield from (Text("- ", "bold red").append(one_line(item.step.content), "dim") for item in diff.removed)
    for item in diff.moved:
        yield Text("↕ ", "magenta").append(f"{one_line(item.step.content)} ({item.before + 1} → {item.at + 1})")
    for changed in diff.reworded:
        yield Text("~ ", "yellow").append(f"{one_line(changed.before)} → {one_line(changed.after)}")
    yield from (_status_line(changed) for changed in diff.status)
    for changed in diff.priority:
        words = f"{one_line(changed.step.content)}: {one_line(changed.before)} → {one_line(changed.after)} priority"
        yield Text("! ", "yellow").append(words)
    yield from _text_change(plan)


def _status_line(changed: Changed) -> Text:
    sign, style = STATUS_LOOK.get(meaning(changed.after) or "", ("?", "yellow"))
    line = Text(f"{sign} ", style.replace("strike ", "")).append(one_line(changed.step.content), style)
    return line.append(f"  {one_line(changed.before)} → {one_line(changed.after)}", "dim")


def _text_change(plan: PlanChange) -> Iterator[Text]:
    """What became of a text without steps: only its size, since the text itself is shown in the end."""
    match plan.before and plan.before.plan, plan.after and plan.after.plan:
        case (MarkdownPlan(content=before), MarkdownPlan(content=after)) if after != before:
            if after.startswith(before):
                yield Text(f"… {len(after) - len(before):,} characters more", "dim")
            else:
                yield Text(f"text rewritten: {len(before):,} → {len(after):,} characters", "dim")
        case (None, MarkdownPlan(content=after)):
            yield Text(f"a text of {len(after):,} characters", "dim")
