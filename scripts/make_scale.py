"""Write the figures of `make bench` (bench/results.json) into docs/scale.md, each in the cell before its name."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
CELLS = re.compile(r"\| [^|]* \| `(\w+)` ")


def main() -> None:
    page = ROOT / "docs" / "scale.md"
    found: dict[str, float] = json.loads((ROOT / "bench" / "results.json").read_text())
    text = CELLS.sub(lambda cells: f"| {shown(cells[1], found.get(cells[1]))} | `{cells[1]}` ", page.read_text("utf-8"))
    page.write_text(text, "utf-8")


def shown(name: str, value: float | None) -> str:
    """A figure with its unit, which its name ends in; a name without a unit is a ratio."""
    if value is None:
        return "not measured"
    if name.endswith("_per_s"):
        return f"{value:,.0f}"
    if name.endswith("_us"):
        return f"{value:,.0f} µs"
    if name.endswith("_ms"):
        return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms" if value >= 1 else f"{value:.2f} ms"
    return f"{value:.2f}"


if __name__ == "__main__":
    main()
