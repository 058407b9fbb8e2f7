"""Stream files: a chat as a list of messages in their stored shapes, for the commands that look at one."""

import argparse
from collections.abc import Sequence
from typing import Any, Final

from planwire.chat import CHAT_FORMATS, Format, Ordinary, Stored, chat_format, read_trajectory
from planwire.cli.input_output import opened
from planwire.errors import BadStream, InputError

STREAM_SHAPE: Final = """\
STREAM is a JSON list of messages, or an object that has it as "messages". Messages of the chat are as the provider's
API takes them, with a message_id; hidden ones are
  {"message_id": "m7", "role": "plan", "content": "- [ ] a", "extra": {"plan": {"id": "main", "version": 1}}}
  {"message_id": "m8", "role": "event", "content": "", "extra": {"event": {"subkind": "tick", "source": "cron"}}}
"""


def add_stream_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stream", metavar="STREAM", help="a file of messages; - for standard input")
    parser.add_argument(
        "--format",
        metavar="FORMAT",
        choices=list(CHAT_FORMATS),
        help=f"{' | '.join(CHAT_FORMATS)} (default: the one the messages are in)",
    )


def stream_file(name: str) -> tuple[list[Stored], dict[str, Any] | None]:
    """The messages of a file, or of standard input if its name is "-", and the object around them, if there is one."""
    try:
        with opened(name) as file:
            return read_trajectory(file.read())
    except BadStream as error:
        raise InputError(f"{name}: {error}") from None


def format_of(messages: Sequence[Stored], name: str | None) -> Format:
    """The format with this name; without one, the format that recognises the most messages."""
    if name is not None:
        return chat_format(name)
    own = [message.message for message in messages if isinstance(message, Ordinary)]
    if any("parts" in message for message in own):
        return chat_format("gemini")
    return max(
        CHAT_FORMATS.values(),
        key=lambda form: sum(bool(form.calls(message) or form.results(message)) for message in own),
    )
