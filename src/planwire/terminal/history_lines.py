"""The history of a session, a line a moment: its number, when, who, which plan, what."""

from datetime import datetime
from typing import Final

from rich.text import Text

from planwire.readmodel.history import HistoryEntry, Phrase
from planwire.readmodel.plain_text import one_line
from planwire.terminal.views import STATUS_LOOK

__all__ = ["clock", "moment_line", "word_text"]

_LOOK: Final = {
    **STATUS_LOOK,
    "other": ("?", "yellow"),
    "opened": ("●", "dim"),
    "new": ("+", "bold green"),
    "added": ("+", "green"),
    "removed": ("-", "red"),
    "plan_removed": ("-", "bold red"),
    "reworded": ("~", "yellow"),
    "moved": ("↕", "magenta"),
    "priority": ("!", "yellow"),
    "text": ("~", "dim"),
    "why": ("✎", "italic"),
    "note": ("✎", "blue"),
    "wish": ("☆", "magenta"),
    "settled": ("★", "magenta"),
    "withdrawn": ("☆", "dim"),
    "asked": ("◆", "magenta"),
    "approved": ("✔", "bold green"),
    "dismissed": ("○", "dim"),
    "changes_requested": ("✎", "bold yellow"),
    "comment": ("›", "yellow"),
    "selected": ("▸", "yellow"),
    "stopped": ("■", "yellow"),
    "compacted": ("⇣", "dim"),
    "told": ("↻", "dim"),
    "message": ("…", "dim"),
}
#: A line names this many changes; the rest are counted.
NAMED: Final = 4
_WHO: Final = 8


def moment_line(moment: HistoryEntry, numbers: int = 4, session: str | None = None, *, short: bool = False) -> Text:
    """One line. `numbers` is the width of the event's number; `session` is named where there are several; `short` is
    for a person, who knows which year it is."""
    line = Text(f"{moment.seq:>{numbers}}  {clock(moment.at, short=short)}  ", "dim")
    if session is not None:
        line.append(f"{one_line(session)}  ", "dim")
    line.append(f"{one_line(moment.by):<{_WHO}}  ")
    if moment.plan is not None:
        line.append(f"{one_line(moment.plan)}  ", "bold")
    if moment.total:
        line.append(f"{moment.done}/{moment.total}  ", "bold")
    named = [word_text(word) for word in moment.words[:NAMED]]
    if len(moment.words) > NAMED:
        named.append(Text(f"and {len(moment.words) - NAMED} more", "dim"))
    return line.append_text(Text(" · ", "dim").join(named))


def clock(at: int, *, short: bool = False) -> str:
    """A Unix time in milliseconds as a date and a time of the day here."""
    try:
        return datetime.fromtimestamp(at / 1000).astimezone().strftime("%m-%d %H:%M" if short else "%Y-%m-%d %H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return "unknown time"


def word_text(word: Phrase) -> Text:
    """One thing that happened: its sign and its words."""
    sign, style = _LOOK.get(word.kind, ("·", "dim"))
    return Text(f"{sign} ", style.replace("strike ", "")).append(one_line(word.text), style)
