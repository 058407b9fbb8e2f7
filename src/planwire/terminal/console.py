"""Where the views are printed: a terminal, or a file or a pipe that gets every line whole."""

from rich.console import Console

__all__ = ["new_console"]

#: Without a terminal nothing is cut or wrapped: lines are for other programs to read.
UNBOUNDED = 10_000


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Whoever read our output has seen enough: the command line knows what to do, and it is no failure."""
        raise BrokenPipeError


def new_console(*, wide: bool = True) -> Console:
    """Standard output. Colour and widths only where a person looks; `wide` lines are as long as they are elsewhere."""
    console = _Console(highlight=False)
    return console if console.is_terminal or not wide else _Console(highlight=False, width=UNBOUNDED)
