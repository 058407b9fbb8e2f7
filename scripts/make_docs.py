"""The parts of docs/ that are made from the code: `make docs`.

The JSON Schema comes from the classes of `planwire.readmodel.as_json`, the table of acts from `planwire.steering.acts`,
that of subkinds from `planwire.chat.subkinds` and `planwire.chat.roles`, and the help texts from the commands.
"""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

from planwire.chat.roles import (
    DROP_ON_AGE,
    KEEP_RECENT_N,
    KEPT_RECENT,
    MODE_SWITCH,
    NEVER,
    PRESERVE_ANCHOR,
    PRESERVE_WINDOW,
    SUBKINDS,
)
from planwire.chat.subkinds import EVENT_SUBKINDS
from planwire.readmodel.as_json import json_schema
from planwire.steering.acts import ACTS

DOCS = Path(__file__).parent.parent / "docs"
SCHEMA = DOCS / "plan.schema.json"
STEERING = DOCS / "steering.md"
HIDDEN_ROLES = DOCS / "hidden-roles.md"
COMMAND_LINE = DOCS / "command-line.md"
#: A block with a command and what it prints.
CONSOLE = re.compile(r"^```console\n\$ (planwire .*)\n(?:.*\n)*?```$", re.MULTILINE)
#: What a compaction does with an event of each class.
FATES = {
    NEVER: "stays, byte for byte",
    DROP_ON_AGE: "goes once it is older than the tail",
    KEEP_RECENT_N: f"the newest {KEPT_RECENT} of a source stay, a marker counts the others",
    PRESERVE_WINDOW: "goes once it is older than the tail",
    PRESERVE_ANCHOR: "stays while there is room, and is counted when it goes",
}


def acts_table() -> str:
    """Every act with its keys and its command."""
    rows = ["| key | act | what it does | command |", "|---|---|---|---|"]
    for act in ACTS.values():
        for number, gesture in enumerate(act.gestures):
            keys = " ".join(f"`{key}`" for key in gesture.keys)
            command = f"`planwire {act.command}`" if not number else ""
            rows.append(f"| {keys} | {gesture.label} | {gesture.help} | {command} |")
    return "\n".join(rows)


def subkinds_table() -> str:
    """Every subkind of hidden events with its payload and its class."""
    rows = ["| subkind | usual source | payload | class | in a compaction |", "|---|---|---|---|---|"]
    for name, row in EVENT_SUBKINDS.items():
        payload = ", ".join(f"`{field}`" for field in row.payload)
        fate = FATES[SUBKINDS[name]] + (", but the newest stays" if name == MODE_SWITCH else "")
        rows.append(f"| `{name}` | `{row.source}` | {payload} | {SUBKINDS[name]} | {fate} |")
    return "\n".join(rows)


#: The page and the maker of each table, by the name in the comments around it.
TABLES = {"acts": (STEERING, acts_table), "subkinds": (HIDDEN_ROLES, subkinds_table)}


def with_table(page: str, name: str) -> str:
    """A page with its table made again."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, _, rest = page.partition(begin)
    return f"{before}{begin}\n{TABLES[name][1]()}\n{end}{rest.partition(end)[2]}"


def printed(command: str) -> str:
    """What a planwire command prints, in lines of 120 characters and without colours."""
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
    for table, (file, _) in TABLES.items():
        file.write_text(with_table(file.read_text(), table))
    COMMAND_LINE.write_text(with_outputs(COMMAND_LINE.read_text()))
