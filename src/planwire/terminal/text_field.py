"""A field for what people write: as many lines as they need, sent with Enter."""

from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import TextArea

from planwire.readmodel.plain_text import printable

__all__ = ["TextField", "harmless"]


class TextField(TextArea):
    """Enter sends; Ctrl+J makes a new line, and so do Shift+Enter and Alt+Enter on terminals that tell them apart.

    Nothing gets in that a terminal would obey: an agent wrote the text of a step, and a paste may hold anything.
    """

    class Submitted(Message):
        """A person wants to send the text."""

    DEFAULT_CSS = """
    TextField {
        height: auto;
        min-height: 1;
        max-height: 8;
        padding: 0 1;
        background: $background;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(self, text: str, placeholder: str = "") -> None:
        super().__init__(
            harmless(text), soft_wrap=True, compact=True, highlight_cursor_line=False, placeholder=placeholder
        )
        self.move_cursor(self.document.end)

    async def _on_key(self, event: Key) -> None:
        """Textual calls this first, and then `TextArea`'s for events that it did not prevent."""
        if event.key not in ("enter", "ctrl+j", "shift+enter", "alt+enter"):
            return
        event.stop()
        event.prevent_default()
        if event.key == "enter":
            self.post_message(self.Submitted())
        else:
            self.insert("\n")

    async def _on_paste(self, event: Paste) -> None:
        event.text = harmless(event.text)


def harmless(text: str) -> str:
    """The text as it gets into the field."""
    return printable(text.replace("\r\n", "\n").replace("\r", "\n"))
