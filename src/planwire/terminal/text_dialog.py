"""A question for a text: a field for as many lines as people need, and what to do with them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

from textual import on
from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import Button, TextArea

from planwire.readmodel.plain_text import printable
from planwire.terminal.dialogs import Dialog, DialogAnswer
from planwire.terminal.lines import Line

#: The name of the button that switches something on or off.
_SWITCH: Final = "switch"


class TextField(TextArea):
    """A field for what people write, as many lines as they need. Enter sends; Ctrl+J makes a new line. On terminals
    that tell them apart, Ctrl+Enter sends, too, and Shift+Enter and Alt+Enter make a new line.

    No character that a terminal would obey gets in: an agent wrote the text of a step, and a paste may hold anything.
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
        if event.key not in ("enter", "ctrl+enter", "ctrl+j", "shift+enter", "alt+enter"):
            return
        event.stop()
        event.prevent_default()
        if event.key in ("enter", "ctrl+enter"):
            self.post_message(self.Submitted())
        else:
            self.insert("\n")

    async def _on_paste(self, event: Paste) -> None:
        event.text = harmless(event.text)


def harmless(text: str) -> str:
    """The text, with a mark in place of every character that a terminal would obey."""
    return printable(text.replace("\r\n", "\n").replace("\r", "\n"))


class Typed(NamedTuple):
    """What a person typed, the answer that they chose for it, and whether the switch was on."""

    text: str
    answer: str
    switched: bool = False


class TextDialog(Dialog[None]):
    """A text, and what to do with it: the first answer by Enter, another one by its own key. A `switch` adds something
    to any answer. The dialog stays open until `send` has succeeded.

    `left` is called with the unsent text, or with None, before the dialog closes. The result of a Textual screen would
    come after that: a quick key would by then have opened the next dialog with the old words.
    """

    DEFAULT_CSS = """
    TextDialog DialogText { max-height: 25vh; }
    """

    def __init__(
        self,
        title: str,
        about: Sequence[Line],
        text: str,
        answers: Sequence[DialogAnswer],
        send: Callable[[Typed], Awaitable[bool]],
        left: Callable[[str | None], None],
        placeholder: str = "",
        switch: DialogAnswer | None = None,
        switched: bool = False,
    ) -> None:
        self._field = TextField(text, placeholder)
        self._send, self._left = send, left
        self._sending = False
        self._switch, self._switched = switch, switched
        self._first = answers[0].value
        self._keys = {each.key.lower(): each.value for each in answers if each.key}
        hint = f"Enter: {answers[0].label.lower()} · Ctrl+J: new line · Esc: cancel"
        buttons = [each._replace(label=f"{each.label} {_short(each.key)}".strip()) for each in answers]
        buttons += [self._switch_button()] if switch else []
        buttons.append(DialogAnswer("", "Cancel"))
        super().__init__(title, about, hint, buttons, self._field)

    def on_mount(self) -> None:
        self._field.focus()

    def action_leave(self) -> None:
        self._left(self._field.text)
        self.dismiss(None)

    def _switch_button(self) -> DialogAnswer:
        label, key = (self._switch.label, _short(self._switch.key)) if self._switch else ("", "")
        return DialogAnswer(_SWITCH, f"{'☑' if self._switched else '☐'} {label} {key}")

    def _turn(self) -> None:
        self._switched = not self._switched
        for button in self.query(Button):
            if button.name == _SWITCH:
                button.label = self._switch_button().label

    def on_key(self, event: Key) -> None:
        if self._switch is not None and event.key == self._switch.key.lower():
            event.stop()
            self._turn()
        elif event.key in self._keys:
            event.stop()
            self._begin(self._keys[event.key])

    @on(TextField.Submitted)
    def _entered(self) -> None:
        self._begin(self._first)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        if event.button.name == _SWITCH:
            self._turn()
            self._field.focus()
        elif event.button.name:
            self._begin(event.button.name)
        else:
            self.action_leave()

    def _begin(self, answer: str) -> None:
        if not self._sending:
            self._sending = True
            self.app.run_worker(self._try(answer))  # on the app, which outlives the dialog

    async def _try(self, answer: str) -> None:
        self._field.read_only = True  # more text would not get sent
        done = await self._send(Typed(self._field.text, answer, self._switched))
        self._sending = self._field.read_only = False
        if done:
            self._left(None)  # also if the person left meanwhile: what was sent is no draft
        if done and self.is_current:
            self.dismiss(None)
        elif self.is_current:
            self._field.focus()


def _short(key: str) -> str:
    """A key as buttons have room for it."""
    return key.replace("Ctrl+", "^")
