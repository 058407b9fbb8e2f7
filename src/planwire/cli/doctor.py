"""`planwire doctor`: whether planwire works wherever it was set up, and what to do where it does not."""

import argparse

from planwire.cli.exit_codes import DONE, NOT_DONE
from planwire.cli.health import checked
from planwire.cli.input_output import print_json
from planwire.cli.journal_option import add_journal_option
from planwire.readmodel.plain_text import printable

DESCRIPTION = (
    "Check the journal, the plugins in agents' terminals and the relays in editors' settings: a line for each, with "
    "what to do."
)

EXAMPLES = """\
examples:
  planwire doctor          what works, and what to do about the rest
  planwire doctor --json   the same for programs

Nothing is changed. Agents are asked by their own commands what they have installed, but no model is asked anything.
The exit code is 1 if there is something to do.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_journal_option(parser)


def run(arguments: argparse.Namespace) -> int:
    found = []
    for each in checked(arguments.journal):
        found.append(each)
        if not arguments.json:
            print(printable(each.line()), flush=True)
    is_well = all(each.ok for each in found)
    if arguments.json:
        print_json({"ok": is_well, "checks": [{"what": a.what, "ok": a.ok, "words": a.words} for a in found]})
    return DONE if is_well else NOT_DONE
