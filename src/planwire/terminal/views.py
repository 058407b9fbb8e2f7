"""Plans as Rich renderables: progress first, then the steps, the current one in sight."""

from collections.abc import Collection, Iterable
from typing import Final

import msgspec
from rich import box
from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from planwire.acp.board import SessionBoard
from planwire.model.plan import FilePlan, MarkdownPlan, OtherPlan
from planwire.model.statuses import CANCELLED, COMPLETED, IN_PROGRESS, PENDING, meaning
from planwire.model.steps import PlanState, Progress, Step
from planwire.readmodel.plain_text import one_line, printable

__all__ = ["STATUS_LOOK", "STOPPED_LOOK", "bar", "plan_view", "session_view", "step_line"]

#: How a status looks: its sign, and the style of the step.
STATUS_LOOK: Final = {
    PENDING: ("○", ""),
    IN_PROGRESS: ("▶", "bold cyan"),
    COMPLETED: ("✔", "green"),
    CANCELLED: ("✗", "strike dim"),
}
#: How a step in progress looks when nobody works on it any more.
STOPPED_LOOK: Final = ("■", "yellow")
_PRIORITY_STYLE: Final = {"high": "bold red", "low": "dim"}
_BAR_WIDTH: Final = 24


def session_view(session: SessionBoard, fresh: Collection[str] = (), height: int | None = None) -> RenderableType:
    """Every plan of a session. `fresh` are ids of steps to point at; `height` bounds what each plan may take."""
    title = Text.assemble(("session ", "dim"), (one_line(session.id) or "(none)", "bold"))
    if not session.plans:
        return Group(title, Text("  no plans any more", style="dim"))
    share = None if height is None else max(4, height // len(session.plans) - 3)
    return Group(title, *(plan_view(state, fresh, share) for state in session.plans.values()))


def plan_view(
    state: PlanState,
    fresh: Collection[str] = (),
    height: int | None = None,
    *,
    stopped: bool = False,
    above: Iterable[RenderableType] = (),
    below: Iterable[RenderableType] = (),
    footer: Text | None = None,
) -> RenderableType:
    """One plan in a panel, with its progress in the title, and what else there is to say around its steps."""
    name = one_line(state.plan.id) if state.plan.id is not None else "plan"
    title = Text.assemble((name, "bold"))
    if state.steps:
        progress = state.progress
        title.append("  ").append_text(bar(progress)).append(f"  {progress.done}/{progress.total}", "bold")
        if progress.cancelled:
            title.append(f"  {progress.cancelled} cancelled", "dim")
    else:
        title.append(f"  {_kind(state)}", "dim")
    body = Group(*above, _body(state, fresh, height, stopped), *below)
    return Panel(
        body,
        title=title,
        title_align="left",
        subtitle=footer,
        subtitle_align="right",
        box=box.ROUNDED,
        border_style="dim",
    )


def bar(progress: Progress, width: int = _BAR_WIDTH) -> Text:
    """A progress bar that is a text: it reads as well where there is no colour."""
    filled = round(width * progress.done / progress.total) if progress.total else 0
    return Text.assemble(("━" * filled, "green"), ("─" * (width - filled), "dim"))


def step_line(step: Step, *, fresh: bool = False, stopped: bool = False) -> Text:
    """A step on one line: sign, text, and its priority if it says something."""
    sign, style = STATUS_LOOK.get(meaning(step.status) or "", ("?", "yellow"))
    if stopped and meaning(step.status) == IN_PROGRESS:
        sign, style = STOPPED_LOOK
    line = Text("  " * step.depth).append(f"{sign} ", style.replace("strike ", ""))
    line.append(one_line(step.content), style)
    if step.priority != "medium":
        line.append(f"  {one_line(step.priority)}", _PRIORITY_STYLE.get(step.priority, "yellow"))
    if meaning(step.status) is None:
        line.append(f"  {one_line(step.status)}", "yellow")
    if fresh:
        line.append("  ●", "bold yellow")
    return line


def _kind(state: PlanState) -> str:
    match state.plan:
        case MarkdownPlan():
            return "proposal"
        case OtherPlan(type=plan_type):
            return one_line(plan_type)
        case FilePlan():
            return "file"
    return "empty"


def _body(state: PlanState, fresh: Collection[str], height: int | None, stopped: bool) -> RenderableType:
    match state.plan:
        case FilePlan(uri=uri):
            return Text(one_line(uri), style="underline")
        case OtherPlan(fields=fields):
            return Text(printable(msgspec.json.format(msgspec.json.encode(fields), indent=2).decode()))
        case MarkdownPlan(content=content) if not state.steps:
            return Markdown(_head(printable(content), height), hyperlinks=False)
    return _steps(state.steps, fresh, height, stopped) if state.steps else Text("nothing on the list", style="dim")


def _head(text: str, height: int | None) -> str:
    lines = text.split("\n")
    return text if height is None or len(lines) <= height else "\n".join([*lines[:height], "", "…"])


def _steps(steps: tuple[Step, ...], fresh: Collection[str], height: int | None, stopped: bool) -> RenderableType:
    first, last = _window(steps, height)
    table = Table.grid()
    if first:
        table.add_row(Text(f"⋮ {_counted(steps[:first])}", style="dim"))
    for step in steps[first:last]:
        table.add_row(step_line(step, fresh=step.id in fresh, stopped=stopped))
    if last < len(steps):
        table.add_row(Text(f"⋮ {_counted(steps[last:])}", style="dim"))
    return table


def _window(steps: tuple[Step, ...], height: int | None) -> tuple[int, int]:
    """Which steps to show when there is not room for all: those around the current one."""
    if height is None or len(steps) <= height:
        return 0, len(steps)
    open_steps = (at for at, step in enumerate(steps) if meaning(step.status) not in (COMPLETED, CANCELLED))
    current = next((at for at, step in enumerate(steps) if meaning(step.status) == IN_PROGRESS), None)
    middle = current if current is not None else next(open_steps, len(steps) - 1)
    first = max(0, min(middle - height // 3, len(steps) - height))
    return first, first + height


def _counted(steps: Iterable[Step]) -> str:
    progress = Progress.of(steps)
    return f"{progress.total + progress.cancelled} more, {progress.done} done"
