"""`planwire tools`: the plan tools' schemas, to look at or to hand to a model."""

import argparse

from planwire.cli.input_output import print_json
from planwire.tools.schemas import FORMATS, tool_schemas

DESCRIPTION = "Print the schemas of the plan tools as JSON, in the form that a provider's API takes."

EXAMPLES = """\
examples:
  planwire tools                       set_plan, update_plan, get_plan and remove_plan, as OpenAI's chat API takes them
  planwire tools --format anthropic    the same for Anthropic's messages API
  planwire tools --format mcp          the same as an MCP server lists them
  planwire tools --strict              the same for OpenAI's strict mode
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", metavar="FORMAT", choices=list(FORMATS), default="openai-chat", help=" | ".join(FORMATS)
    )
    parser.add_argument("--strict", action="store_true", help="for OpenAI's strict mode")


def run(arguments: argparse.Namespace) -> int:
    print_json(tool_schemas(arguments.format, strict=arguments.strict))
    return 0
