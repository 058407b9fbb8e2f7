"""A list of sessions: two calm lines for each on a terminal, one line of columns without one."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from planwire.model.steps import Progress
from planwire.readmodel.overview import DONE, RUNNING, STOPPED, WAITING, Overview
from planwire.readmodel.plain_text import age, one_line
from planwire.terminal.views import bar

__all__ = ["STATE_LOOK", "folder_name", "sessions_lines", "sessions_list"]

STATE_LOOK: Final = {
    RUNNING: ("▶", "bold cyan"),
    STOPPED: ("■", "yellow"),
    WAITING: ("◆", "magenta"),
    DONE: ("✔", "green"),
}
#: In columns a title is no longer than this: the whole of it is in `show`, and in JSON.
TITLE: Final = 60


def sessions_list(overviews: Iterable[Overview], short: Mapping[str, str], now: int) -> RenderableType:
    """For a person: what it is about and how far it is; then who works where, and on which step."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(width=1)
    table.add_column(no_wrap=True, max_width=20, overflow="ellipsis")
    table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True, justify="right")
    for each in overviews:
        sign, style = STATE_LOOK[each.state]
        words = Text(one_line(each.title or "") or "no title", "bold" if each.title else "dim").append("\n")
        words.append_text(Text(" · ", "dim").join(_details(each)))
        table.add_row(
            Text(sign, style),
            Text(one_line(short[each.id]), "dim"),
            words,
            _progress(each),
            Text(age(each.last_at, now), "dim"),
        )
    return table


def sessions_lines(overviews: Iterable[Overview], short: Mapping[str, str], now: int) -> Iterator[str]:
    """For a pipe: one line of columns a session, with a heading."""
    rows: list[tuple[str, ...]] = [("ID", "STATE", "DONE", "AGE", "AGENT", "FOLDER", "TITLE", "CURRENT STEP")]
    for each in overviews:
        words = (each.agent, each.cwd, (each.title or "")[:TITLE], "; ".join(each.current))
        facts = (short[each.id], each.state, f"{each.done}/{each.total}", age(each.last_at, now), *words)
        rows.append(tuple(one_line(word or "") or "-" for word in facts))
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(set_cell_size(word, width) for word, width in zip(row, widths, strict=True)).rstrip()


def folder_name(cwd: str) -> str:
    """A folder as its owner would write it."""
    home = str(Path.home())
    inside = cwd == home or cwd.startswith(home.rstrip("/\\") + "/")
    return one_line(f"~{cwd[len(home) :]}" if inside and home != "/" else cwd)


def _details(each: Overview) -> list[Text]:
    details = [Text(one_line(each.agent or "") or "unknown agent", "dim")]
    if each.cwd:
        details.append(Text(folder_name(each.cwd), "dim"))
    if each.current:
        sign, style = STATE_LOOK[RUNNING if each.state == RUNNING else STOPPED]
        details.insert(0, Text(f"{sign} {one_line(each.current[0])}", style.replace("bold ", "")))
    return details


def _progress(each: Overview) -> Text:
    if not each.total:
        words = Text("no plan" if not each.plans else "no steps", "dim")
    else:
        words = bar(Progress(each.done, each.total), 10).append(f" {each.done:>3}/{each.total}", "bold")
    return words.append(f"\n{each.state}", "dim")
