"""`planwire tools`: the plan tools' schemas, to look at or to hand to a model."""

import argparse

import msgspec

from planwire.cli.command import describe
from planwire.tools.schemas import FORMATS, tool_schemas

__all__ = ["add_arguments", "run"]

_EXAMPLES = """\
examples:
  planwire tools                       the tools set_plan, update_plan and get_plan, as OpenAI's chat API takes them
  planwire tools --format anthropic    the same for Anthropic's messages API
  planwire tools --format mcp          the same as an MCP server lists them
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Print the schemas of the plan tools as JSON, in the form that a provider's API takes.",
        _EXAMPLES,
    )
    parser.add_argument(
        "--format", metavar="FORMAT", choices=list(FORMATS), default="openai-chat", help=" | ".join(FORMATS)
    )


def run(arguments: argparse.Namespace) -> int:
    print(msgspec.json.format(msgspec.json.encode(tool_schemas(arguments.format)), indent=2).decode())
    return 0
