"""The person's editor, for commands and for the app: $VISUAL, $EDITOR or vi."""

import os
import shlex

from planwire.errors import InputError

__all__ = ["editor_command", "unstartable"]


def editor_command() -> list[str]:
    """The words that start it. The path of a file comes behind them."""
    editor = next((words for name in ("VISUAL", "EDITOR") if (words := os.environ.get(name, "").strip())), "vi")
    try:
        return shlex.split(editor)
    except ValueError as error:
        raise unstartable(editor, error) from None


def unstartable(editor: str, why: Exception) -> InputError:
    """The error that says so."""
    return InputError(f"the editor {editor!r} could not be started ({why}): set $VISUAL or $EDITOR")
