"""Colours for a dark and a light terminal, and which of the two it is."""

import os
import re
import select
import sys
import time
from typing import Any, Final

from textual.theme import Theme

if sys.platform != "win32":
    import termios
    import tty


def _theme(name: str, primary: str, background: str, surface: str, scrollbar: tuple[str, str], **others: Any) -> Theme:
    """A theme whose footer and scrollbars have its own colours."""
    variables = {
        "footer-key-foreground": primary,
        "footer-background": surface,
        "scrollbar": scrollbar[0],
        "scrollbar-hover": scrollbar[1],
        "scrollbar-active": primary,
        **{f"scrollbar-background{state}": background for state in ("", "-hover", "-active")},
        "input-selection-background": f"{primary} {30 if others['dark'] else 25}%",
    }
    return Theme(name, primary, background=background, surface=surface, variables=variables, **others)


DARK: Final = _theme(
    "planwire-dark",
    primary="#7aa2f7",
    secondary="#9aa5ce",
    accent="#bb9af7",
    success="#8fbf7f",
    warning="#e0a458",
    error="#e27878",
    foreground="#d5d9e3",
    background="#14161b",
    surface="#1e222b",
    panel="#232833",
    scrollbar=("#343b4a", "#4a5468"),
    dark=True,
)
LIGHT: Final = _theme(
    "planwire-light",
    primary="#2f5fd0",
    secondary="#55607a",
    accent="#7a3fb0",
    success="#3a7d34",
    warning="#a35f00",
    error="#b3363e",
    foreground="#23262e",
    background="#fbfbfa",
    surface="#eeeff1",
    panel="#e6e8ec",
    scrollbar=("#c9cdd6", "#aab0bd"),
    dark=False,
)

#: Seconds that a terminal has to say what its background is.
PATIENCE: Final = 0.2
#: Ask for the background, then for what every terminal answers: when that comes, there is nothing more to wait for.
_QUESTION: Final = b"\x1b]11;?\x1b\\\x1b[c"
_ANSWER: Final = re.compile(rb"\x1b\]11;rgb:([0-9a-fA-F]{2,4})/([0-9a-fA-F]{2,4})/([0-9a-fA-F]{2,4})")
_END: Final = re.compile(rb"\x1b\[\?[0-9;]*c")
#: The light ones of the sixteen colours of a terminal, by the numbers that COLORFGBG has for them.
_LIGHT_NUMBERS: Final = {"7", "15"}


def theme_for_terminal() -> str:
    """The theme that TEXTUAL_THEME names, or the one that goes with the terminal's background."""
    return os.environ.get("TEXTUAL_THEME") or (LIGHT if terminal_is_light() else DARK).name


def terminal_is_light() -> bool:
    """Whether the terminal has a light background: it says so itself, or COLORFGBG does."""
    found = _ANSWER.search(_terminal_answer())
    if found is None:
        return os.environ.get("COLORFGBG", "").rpartition(";")[2] in _LIGHT_NUMBERS
    red, green, blue = (int(part, 16) / int("f" * len(part), 16) for part in found.groups())
    return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5


def _terminal_answer() -> bytes:
    """Ask the terminal for its background, and wait a moment for the answer. Windows has no way to ask."""
    if sys.platform == "win32":
        return b""
    try:
        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
        if not os.isatty(sys.stdout.fileno()):
            return b""
    except (OSError, ValueError, termios.error):
        return b""
    answer = b""
    try:
        tty.setcbreak(descriptor, termios.TCSANOW)
        os.write(sys.stdout.fileno(), _QUESTION)
        end = time.monotonic() + PATIENCE
        while not _END.search(answer) and (left := end - time.monotonic()) > 0:
            if select.select([descriptor], [], [], left)[0]:
                answer += os.read(descriptor, 1_024)
    except OSError:
        return b""
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)
    return answer
