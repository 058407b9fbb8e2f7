"""planwire's own folder for an agent's plugin, and the receipt of its installation.

The agent's commands install from the folder, and some agents keep reading it there. The receipt has the agent's
settings from before and after, so that the installation can be undone byte for byte. It may hold secrets of those
settings, so only the person can read it.
"""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, cast

import msgspec

from planwire import __version__
from planwire.cli.file_swap import read_bytes, swap_bytes
from planwire.errors import InputError, reason
from planwire.hooks.command_line import Role, hook_command
from planwire.hooks.guide import INSTRUCTIONS, prompt_text
from planwire.hooks.hook_table import GEMINI, OPENCODE
from planwire.hooks.plugin import Parts, plugin_files
from planwire.journal.engines import shared_url
from planwire.journal.hook_folders import HOOKS, hooks_path, make_hooks_path
from planwire.journal.shown_urls import shown_url
from planwire.journal.user_files import default_path
from planwire.own_process import own_command

#: Agents with a plugin of their own, whose hooks need not find out which agent calls them.
_KNOWN: Final = (GEMINI, OPENCODE)


class SettingsWere(msgspec.Struct, frozen=True):
    """A settings file before and after an installation. None stands for no file."""

    path: str
    before: bytes | None
    after: bytes | None


class Receipt(msgspec.Struct, frozen=True):
    """An installation: by which version of planwire, with reviews or not, for which folder of hooks."""

    agent: str
    version: str
    hooks: str
    review: bool
    settings: tuple[SettingsWere, ...] = ()

    def files(self) -> dict[str, str]:
        """The files of the plugin, as this planwire would write them for that version."""
        known = self.agent if self.agent in _KNOWN else None
        parts = Parts(
            self.version,
            lambda role: hook_command(cast("Role", role), self.hooks, known),
            self.server(),
            INSTRUCTIONS,
            prompt_text(),
            _opencode_file() if self.agent == OPENCODE else "",
        )
        return plugin_files(self.agent, parts, review=self.review)

    def server(self) -> list[str]:
        """The command of the MCP server."""
        return own_command("mcp", "--hooks", self.hooks)

    def is_current(self) -> bool:
        """Whether the files in the folder are those that this planwire would write."""
        return _read(plugin_folder(self.agent)) == self.files()

    def write(self) -> None:
        """Write the receipt, readable by its owner only."""
        path = _receipt_path(self.agent)
        if read_bytes(path) is None:
            with _errors_about(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch(0o600)
        swap_bytes(path, read_bytes(path), msgspec.json.format(msgspec.json.encode(self)))

    def write_files(self) -> None:
        """Bring the folder up to date file by file, since an agent may be reading it."""
        folder, files = plugin_folder(self.agent), self.files()
        for name, text in files.items():
            swap_bytes(folder / name, read_bytes(folder / name), text.encode())
        for name in _read(folder).keys() - files.keys():
            (folder / name).unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the folder and the receipt, and the folder of all plugins if this was the last."""
        with _errors_about(plugin_folder(self.agent)):
            shutil.rmtree(plugin_folder(self.agent), ignore_errors=True)
            _receipt_path(self.agent).unlink(missing_ok=True)
        with suppress(OSError):
            _plugins().rmdir()


def new_receipt(agent: str, hooks: str, *, review: bool) -> Receipt:
    """The receipt for an installation to make now."""
    return Receipt(agent, __version__, hooks, review)


def plugin_folder(agent: str) -> Path:
    """The folder in which planwire keeps the plugin for an agent."""
    return _plugins() / agent


def read_receipt(agent: str) -> Receipt | None:
    """The receipt of the agent's installation; None if planwire is not installed in it."""
    path = _receipt_path(agent)
    content = read_bytes(path)
    try:
        return msgspec.json.decode(content, type=Receipt) if content is not None else None
    except msgspec.MsgspecError as error:
        raise InputError(f"{path} is no receipt of planwire's: {error}") from None


def receipts() -> list[str]:
    """The agents with an installation."""
    return sorted(each.stem for each in _plugins().glob("*.json"))


def folder_of_hooks(journal: str | None, *, make: bool = False) -> str:
    """The folder for events from hooks, of a journal that other processes can open. `make` creates it."""
    folder = make_hooks_path(journal) if make else hooks_path(journal)
    if folder is None:
        named = shown_url(journal or shared_url() or "")
        raise InputError(f"hooks can't reach the journal {named}: name another one with --journal")
    return str(folder)


def is_beside_journal(folder: str) -> bool:
    """Whether a folder of hooks belongs to a journal file beside it, and not to a journal on a server."""
    return folder.endswith(HOOKS)


def _plugins() -> Path:
    return default_path().parent / "plugins"


def _receipt_path(agent: str) -> Path:
    return _plugins() / f"{agent}.json"


def _opencode_file() -> str:
    import planwire.hooks  # noqa: PLC0415

    return Path(planwire.hooks.__file__ or "").with_name("opencode_plugin.js").read_text(encoding="utf-8")


def _read(folder: Path) -> Mapping[str, str]:
    found = (each for each in folder.rglob("*") if each.is_file())
    return {each.relative_to(folder).as_posix(): each.read_text("utf-8", "replace") for each in found}


@contextmanager
def _errors_about(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} can't be written: {reason(error)}") from None
