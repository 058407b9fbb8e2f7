"""A bar above everything else on a screen: why what is below may not be as it is in the journal."""

from textual.widgets import Static

from planwire.readmodel.plain_text import one_line

__all__ = ["TroubleBar"]


class TroubleBar(Static):
    """Words of trouble, all of them, in as many lines as that takes; nothing as long as all is well."""

    DEFAULT_CSS = """
    TroubleBar { dock: top; height: auto; display: none; padding: 0 1; background: $error-muted; color: $text-error; }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.words = ""

    def say(self, words: str | None) -> None:
        """Show these words from now on; none hide the bar."""
        if (said := one_line(words or "")) != self.words:
            self.words = said
            self.update(said)
            self.display = bool(said)
