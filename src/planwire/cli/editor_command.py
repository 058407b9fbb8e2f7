"""The person's editor, for commands and for the app: $VISUAL, $EDITOR or vi."""

import os
import shlex

from planwire.errors import InputError

__all__ = ["editor_command", "unstartable"]


def editor_command(given: str | None = None) -> list[str]:
    """The words that start the `given` editor, or else the person's own. The path of a file comes after them."""
    named = (given, os.environ.get("VISUAL"), os.environ.get("EDITOR"))
    editor = next((words for name in named if name and (words := name.strip())), "vi")
    try:
        return shlex.split(editor)
    except ValueError as error:
        raise unstartable(editor, error) from None


def unstartable(editor: str, why: Exception) -> InputError:
    """The error that says so."""
    return InputError(f"the editor {editor!r} could not be started ({why}): set $VISUAL or $EDITOR")
