"""The parts of docs/ that are made from the code: `make docs`.

The JSON Schema comes from the classes of `planwire.readmodel.as_json`, the table of acts from `planwire.steering.acts`,
and the help texts from the commands.
"""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

from planwire.readmodel.as_json import json_schema
from planwire.steering.acts import ACTS

DOCS = Path(__file__).parent.parent / "docs"
SCHEMA = DOCS / "plan.schema.json"
STEERING = DOCS / "steering.md"
COMMAND_LINE = DOCS / "command-line.md"
#: What a command prints, after a line with the command.
CONSOLE = re.compile(r"^```console\n\$ (planwire .*)\n(?:.*\n)*?```$", re.MULTILINE)
#: The comments between which a page holds what is made here.
BEGIN, END = "<!-- acts -->", "<!-- end of acts -->"


def acts_table() -> str:
    """Every act with its keys and its command."""
    rows = ["| key | act | what it does | command |", "|---|---|---|---|"]
    for act in ACTS.values():
        for number, gesture in enumerate(act.gestures):
            keys = " ".join(f"`{key}`" for key in gesture.keys)
            command = f"`planwire {act.command}`" if not number else ""
            rows.append(f"| {keys} | {gesture.label} | {gesture.help} | {command} |")
    return "\n".join(rows)


def with_table(page: str) -> str:
    """A page with the table of acts as it is now."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{acts_table()}\n{END}{rest.partition(END)[2]}"


def printed(command: str) -> str:
    """What a planwire command prints where lines have 120 characters and no colours."""
    program, *arguments = shlex.split(command)
    assert program == "planwire", command
    environment = {"COLUMNS": "120", "PATH": "", "NO_COLOR": "1"}
    line = [sys.executable, "-m", "planwire", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=True, env=environment).stdout  # noqa: S603


def with_outputs(page: str) -> str:
    """A page with what its commands print now."""
    return CONSOLE.sub(lambda block: f"```console\n$ {block[1]}\n{printed(block[1])}```", page)


if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n")
    STEERING.write_text(with_table(STEERING.read_text()))
    COMMAND_LINE.write_text(with_outputs(COMMAND_LINE.read_text()))
