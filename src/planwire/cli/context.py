"""`planwire context`: the request that a provider gets for a stream."""

import argparse

from planwire.chat import ChatStream
from planwire.cli.input_output import print_json
from planwire.cli.streams import STREAM_SHAPE, add_stream_arguments, format_of, stream_file

DESCRIPTION = (
    "Print the messages of a chat as a provider receives them, as JSON: hidden messages become blocks of text in their "
    "places."
)

EXAMPLES = f"""\
examples:
  planwire context stream.json                       the messages of the next request
  planwire context stream.json --format anthropic    the same in a named format, with its cache breakpoints
  planwire context - < stream.json | jq length       how many there are

{STREAM_SHAPE}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_stream_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    messages, _ = stream_file(arguments.stream)
    print_json(ChatStream(format_of(messages, arguments.format), messages).context())
    return 0
