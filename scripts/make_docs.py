"""The parts of docs/ that are made from tables in the code: `make docs`.

The JSON Schema comes from the classes of `planwire.readmodel.as_json`, the table of acts from `planwire.steering.acts`.
"""

import json
from pathlib import Path

from planwire.readmodel.as_json import json_schema
from planwire.steering.acts import ACTS

DOCS = Path(__file__).parent.parent / "docs"
SCHEMA = DOCS / "plan.schema.json"
STEERING = DOCS / "steering.md"
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


if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n")
    STEERING.write_text(with_table(STEERING.read_text()))
