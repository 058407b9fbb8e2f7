"""The console of the commands: a terminal, or a file or a pipe that gets every line whole."""

from typing import Final

from rich.console import Console

__all__ = ["new_console"]

#: The width where there is no terminal: lines are for other programs to read, so nothing cuts or wraps them.
UNBOUNDED: Final = 10_000


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Stop quietly on a closed pipe (`planwire log | head`): the command line takes it for no failure."""
        raise BrokenPipeError


def new_console(*, wide: bool = True) -> Console:
    """Standard output. Without a terminal it has no colour, and `wide` lines have no end."""
    console = _Console(highlight=False)
    return console if console.is_terminal or not wide else _Console(highlight=False, width=UNBOUNDED)
