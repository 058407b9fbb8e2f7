"""A footer that never cuts a key off: without room for all, it leaves out those that matter least."""

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.events import Resize
from textual.widgets import Footer

__all__ = ["KeysFooter"]

_GAP: Final = " "


class KeysFooter(Footer):
    """`spare` names what it may leave out, the most dispensable first. All keys are behind `?`."""

    def __init__(self, spare: Sequence[str] = ()) -> None:
        super().__init__(show_command_palette=False, compact=True)
        self._spare = spare
        self._shown: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        self._shown = self._fitting()
        yield from (key for key in super().compose() if getattr(key, "action", None) in self._shown)

    async def recompose(self) -> None:
        """Do nothing if nothing differs: Textual calls this whenever a dialog comes or goes."""
        if not self.children or self._fitting() != self._shown:
            await super().recompose()

    def on_resize(self, _event: Resize) -> None:
        self.call_after_refresh(self.recompose)

    def _fitting(self) -> dict[str, str]:
        """The words and keys that fit, by their actions."""
        shown: dict[str, str] = {}
        names: dict[str, str] = {}
        for _, binding, enabled, _ in self.screen.active_bindings.values():
            if binding.show and enabled:
                shown.setdefault(binding.action, f"{self.app.get_key_display(binding)} {binding.description}")
                names[binding.description] = binding.action
        for name in self._spare:
            if cell_len(_GAP.join(shown.values())) <= (self.size.width or self.app.size.width):
                break
            shown.pop(names.get(name, ""), None)
        return shown
