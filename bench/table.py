"""Figures as plain text: one table per benchmark, and one of all targets."""

from collections.abc import Iterable, Sequence

from bench.figure import Figure

__all__ = ["figures_table", "targets_table"]


def figures_table(figures: Iterable[Figure]) -> str:
    """The figures where their cells put them; those without a cell follow, one per row."""
    rows: dict[str, dict[str, str]] = {}
    units: dict[str, str] = {}
    alone: list[list[str]] = []
    for figure in figures:
        if figure.cell is None:
            alone.append([figure.name, _number(figure.value), figure.unit])
        else:
            units.setdefault(figure.cell.column, figure.unit)
            rows.setdefault(figure.cell.row, {})[figure.cell.column] = _number(figure.value)
    head = [["", *units], ["", *units.values()]]
    grid = [[title, *(row.get(column, "") for column in units)] for title, row in rows.items()]
    return "\n\n".join(_aligned(part) for part in (head + grid if grid else [], alone) if part)


def targets_table(figures: Iterable[Figure]) -> str:
    head = ["target", "found", "wanted", ""]
    rows = [
        [figure.name, f"{figure.value:.2f}", str(figure.target), "MISSED" if figure.missed else "ok"]
        for figure in figures
        if figure.target is not None
    ]
    return _aligned([head, *rows])


def _number(value: float) -> str:
    """Three significant digits, which is more than a second run would repeat."""
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f}"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    )
