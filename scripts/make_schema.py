"""The JSON Schema in docs/, made from the classes of `planwire.readmodel.as_json`: `make schema`."""

import json
from pathlib import Path

from planwire.readmodel.as_json import json_schema

SCHEMA = Path(__file__).parent.parent / "docs" / "plan.schema.json"

if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n")
