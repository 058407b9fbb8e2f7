"""`planwire translate`: an agent's recorded lines in another dialect."""

import argparse
import sys

from planwire.acp import CLIENT, DIALECTS, Translator, dialect
from planwire.cli.input_output import write_line
from planwire.cli.recording import read_recording

DESCRIPTION = "Print an agent's recorded lines as a client of another dialect would receive them."

EXAMPLES = """\
examples:
  planwire translate session.jsonl --to v1         for clients that know only the `plan` update
  planwire translate session.jsonl --to v2         for clients of protocol version 2
  my-agent | planwire translate - --to v1-draft    straight from a pipe

dialects:
  v1         the `plan` update alone: several plans become one list, texts become messages
  v1-rfd     `plan_update` and `plan_removed`, the plan's id in `id`
  v1-draft   the same, the id in `planId` and `id`
  v2         `plan_update` for every plan, the id in `planId`

Lines that need no translation are printed byte for byte; on a terminal, control characters are escaped. FILE may hold
both sides of a connection: the client's lines are read, but not printed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="recorded lines; - for standard input")
    parser.add_argument("--to", metavar="DIALECT", required=True, choices=list(DIALECTS), help=" | ".join(DIALECTS))


def run(arguments: argparse.Namespace) -> int:
    translator = Translator(dialect(arguments.to))
    for recorded in read_recording(arguments.file):
        sender = recorded.sender or translator.sender_of(recorded.line)
        for line in translator.translate(recorded.line, sender):
            if sender != CLIENT:
                write_line(line)
        sys.stdout.buffer.flush()
    for line in translator.end():
        write_line(line)
    return 0
