"""Run every benchmark, or those named as arguments, print what they found, and write it down.

python -m bench             everything, into bench/results.json
python -m bench imports     one benchmark, for a look: nothing is written
"""

import json
import pkgutil
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path

from bench.figure import Figure
from bench.progress import say
from bench.table import figures_table, targets_table

HERE = Path(__file__).parent


def main(wanted: list[str]) -> int:
    benchmarks = _benchmarks()
    unknown = [name for name in wanted if name not in benchmarks]
    if unknown:
        say(f"there is no benchmark {', '.join(unknown)}: there are {', '.join(benchmarks)}")
        return 2
    figures: list[Figure] = []
    for name in wanted or benchmarks:
        say(f"[{name}]")
        found = list(benchmarks[name]())
        print(f"{name}\n\n{figures_table(found)}\n", flush=True)
        figures += found
    print(targets_table(figures))
    missed = [figure.name for figure in figures if figure.missed]
    print(f"\n{len(missed)} MISSED: {', '.join(missed)}" if missed else "\nevery target is met")
    if not wanted:
        results = {figure.name: round(figure.value, 4) for figure in figures}
        (HERE / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    return 0


def _benchmarks() -> dict[str, Callable[[], Iterable[Figure]]]:
    """The modules beside this one that can `measure`, by name."""
    names = [module.name for module in pkgutil.iter_modules([str(HERE)]) if module.name != "__main__"]
    names.sort(key="hooks".__eq__)  # they make this process an agent, below which a board takes no acts
    modules = {name: import_module(f"bench.{name}") for name in names}
    return {name: module.measure for name, module in modules.items() if hasattr(module, "measure")}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
