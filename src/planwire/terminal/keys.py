"""The keys of every screen, as tables: bindings, footers, the menu and the list that `?` shows are made from them.

The keys that steer plans come from the table of acts; only those that are about the screen itself are listed here.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from textual.binding import Binding, BindingType

from planwire.steering.acts import ACTS, On
from planwire.terminal.lines import BLANK, Line

#: Textual's names of the keys that have another name for people.
_NAMES: Final = {
    "/": "slash",
    "?": "question_mark",
    ".": "full_stop",
    "←": "left",
    "→": "right",
    "↑": "up",
    "↓": "down",
    "Esc": "escape",
    "PgUp": "pageup",
    "PgDn": "pagedown",
}


class ScreenKey(NamedTuple):
    """One row: keys as people read them, the action that they trigger, and the words for it. `shown`: the footer has
    it. `first`: it works whatever has the focus."""

    keys: tuple[str, ...]
    action: str
    label: str
    help: str = ""
    shown: bool = False
    first: bool = False


#: Tables of keys, by their headings in the list of keys.
KeyGroups: TypeAlias = Mapping[str, tuple[ScreenKey, ...]]

CURSOR_KEYS: Final = (
    ScreenKey(("↑", "k"), "cursor('move', -1)", "Up"),
    ScreenKey(("↓", "j"), "cursor('move', 1)", "Down"),
    ScreenKey(("Home", "g"), "cursor('to_edge', 0)", "Top"),
    ScreenKey(("End", "G"), "cursor('to_edge', -1)", "End"),
    ScreenKey(("PgUp", "b"), "cursor('page', -1)", "Page up"),
    ScreenKey(("PgDn", "f"), "cursor('page', 1)", "Page down"),
)
APP_KEYS: Final = (
    ScreenKey(("?",), "help", "Keys", "this list", shown=True),
    ScreenKey(("T",), "theme", "Theme", "dark or light"),
    ScreenKey(("q",), "quit", "Quit", shown=True),
    ScreenKey(("Ctrl+C",), "quit", "Quit", first=True),
)
#: Additional keys that acts have only in the terminal.
_MORE: Final = {"select": ("Enter",)}
_HEADINGS: Final = {On.STEP: "The step under the cursor", On.PLAN: "Its plan", On.REMARK: "Remarks and suggestions"}
_MARK: Final = ScreenKey(("s",), "act('mark')", "Select", "the step, to run it with others", shown=True)


def act_keys(names: Iterable[str] = ACTS) -> dict[str, tuple[ScreenKey, ...]]:
    """The keys of acts, grouped by what the acts are on."""
    groups: dict[str, tuple[ScreenKey, ...]] = dict.fromkeys(_HEADINGS.values(), ())
    for act in (ACTS[name] for name in names):
        for number, gesture in enumerate(act.gestures):
            keys = (*gesture.keys, *_MORE.get(act.name, ()))
            key = ScreenKey(keys, f"act({act.name!r}, {number})", gesture.label, gesture.help, gesture.main)
            heading = _HEADINGS[gesture.on or act.on]
            groups[heading] += (_MARK, key) if act.name == "select" else (key,)
    return groups


SESSION_KEYS: Final[KeyGroups] = {
    **act_keys(),
    "This screen": (
        ScreenKey(("m",), "act('menu')", "More", "all acts for the row under the cursor", shown=True),
        ScreenKey((".",), "current", "Current step", "go to it and follow it"),
        ScreenKey(("h",), "history", "History", shown=True),
        ScreenKey(("y",), "copy", "Copy", "all plans, as markdown"),
        ScreenKey(("Esc",), "back", "Sessions", shown=True),
    ),
}


def bindings(*keys: ScreenKey) -> list[BindingType]:
    """Keys as bindings of Textual. The footer shows the first key of a row."""
    made: list[BindingType] = []
    for row in keys:
        for number, key in enumerate(row.keys):
            shown = row.shown and not number
            name = _NAMES.get(key) or (key if len(key) == 1 else key.lower())
            words = (name, row.action, row.label)
            made.append(Binding(*words, show=shown, key_display=key, tooltip=row.help, priority=row.first))
    return made


def key_lines(groups: KeyGroups) -> Iterator[Line]:
    """The list of keys."""
    wide = max(len(", ".join(row.keys)) for rows in groups.values() for row in rows)
    labels = max(len(row.label) for rows in groups.values() for row in rows)
    for number, (heading, rows) in enumerate((heading, rows) for heading, rows in groups.items() if rows):
        if number:
            yield BLANK
        yield Line(((heading, "heading"),))
        for row in rows:
            keys = f"  {', '.join(row.keys):<{wide}}  "
            yield Line(((keys, "strong"), (f"{row.label:<{labels}}  ", ""), (row.help, "muted")))
