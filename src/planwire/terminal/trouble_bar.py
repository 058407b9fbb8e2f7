"""A bar at the top of a screen, which says why the rest may not be as it is in the journal."""

from textual.widgets import Static

from planwire.readmodel.plain_text import one_line


class TroubleBar(Static):
    """All words of trouble, in as many lines as they take; hidden as long as all is well."""

    DEFAULT_CSS = """
    TroubleBar { dock: top; height: auto; display: none; padding: 0 1; background: $error-muted; color: $text-error; }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.words = ""

    def say(self, words: str | None) -> None:
        """Show these words from now on, or hide the bar without any."""
        if (said := one_line(words or "")) != self.words:
            self.words = said
            self.update(said)
            self.display = bool(said)
