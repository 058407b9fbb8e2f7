"""Lines: decoding, encoding and following them on a board, against both ACP SDKs and bare JSON libraries."""

from collections.abc import Callable, Iterator
from itertools import cycle

import planwire
from bench.figure import Cell, Figure, Target, at_least, at_most
from bench.lines import LINES, SIZES, one_status_apart
from bench.npm import npm_times
from bench.peers import DECODERS, ENCODERS
from bench.progress import say
from bench.proof import prove_applied, prove_decoded, prove_encoded
from bench.race import Contender, Heat, race
from tests.availability import Unavailable

__all__ = ["measure"]

SECONDS = 28.0
NPM_SECONDS = 8.0
KEPT_STATES = 100

#: The lines that are written as well, in v1, and the line that figures without a line in their name are about.
WRITTEN = ("short", *map(str, SIZES), "meta", "entry_meta")
USUAL = "20"

_ROWS = {
    **{str(size): f"{size:,} entries" for size in SIZES},
    "short": "3 entries, as agents send them",
    "short_status_first": "the same, status first",
    "spaced": "20, spaces after , and :",
    "items": "20, as a plan_update",
    "meta": "20, _meta and other fields",
    "meta_list": "20, the same with a list in _meta",
    "entry_meta": "20, the same, _meta in each entry",
    "bad_entry": "20, two of them broken",
    "chunk": "a chunk of text, no plan",
}
_PEERS = {"python_sdk": "sdk", "npm_sdk": "npm", "orjson": "orjson", "json": "json"}
_COLUMNS = {"sdk": "Python SDK", "npm": "npm SDK", "orjson": "orjson", "json": "json"}

_TARGETS: dict[str, Target] = {
    "decode_vs_python_sdk": at_least(6),
    "decode_vs_orjson": at_least(0.8),
    "decode_meta_vs_python_sdk": at_least(4),
    "encode_vs_python_sdk": at_least(8),
}


def measure() -> Iterator[Figure]:
    heats = [*map(_decoding, LINES), *map(_encoding, WRITTEN)]
    times: dict[str, float] = {}
    try:
        times |= npm_times(NPM_SECONDS)
    except Unavailable as reason:
        print(f"without the npm SDK: {reason}\n")
    say(f"{sum(map(len, heats))} contenders, about {SECONDS:.0f} s")
    times |= race(heats, SECONDS)
    for verb, names in (("decode", tuple(LINES)), ("encode", WRITTEN)):
        for line in names:
            yield from _compared(verb, line, times)
    for size in SIZES:
        cell = Cell(f"Board.apply {_ROWS[str(size)]}", "planwire")
        yield Figure(f"apply_{size}_us", times[f"apply_{size}"], "µs", cell=cell)
    yield Figure("sdk_decode_vs_apply", times["sdk_decode_20"] / times["apply_20"], "x", at_least(1))
    yield Figure("apply_growth_2000_over_200", times["apply_2000"] / times["apply_200"], "x", at_most(13))


def _decoding(name: str) -> Heat:
    """Everyone who reads a line. Boards run in the same heat as the SDK's decoder, which they are compared with."""
    line = LINES[name]
    prove_decoded(name, line)
    heat = {f"{peer}_decode_{name}": Contender(decode, line) for peer, decode in DECODERS.items()}
    heat[f"decode_{name}"] = Contender(planwire.read, line)
    return heat | _following() if name == USUAL else heat


def _encoding(name: str) -> Heat:
    line = LINES[name]
    prove_encoded(name, line)
    heat = {f"{peer}_encode_{name}": Contender(encode, DECODERS[peer](line)) for peer, encode in ENCODERS.items()}
    (update,) = planwire.read(line).updates
    heat[f"encode_{name}"] = Contender(_write, update)
    return heat


def _write(update: planwire.Update) -> bytes:
    return planwire.write(update, planwire.V1)


def _following() -> dict[str, Contender]:
    """Boards that follow one change of status after another. Their history is full, as in a long session."""
    boards = {}
    for size in SIZES:
        board = planwire.Board(keep=KEPT_STATES)
        lines = cycle(one_status_apart(size))
        board.apply(next(lines))
        for _ in range(KEPT_STATES):
            prove_applied(board.apply(next(lines)), size)
        boards[f"apply_{size}"] = Contender(_apply_next(board, lines), None)
    return boards


def _apply_next(board: planwire.Board, lines: Iterator[bytes]) -> Callable[[None], planwire.Change]:
    return lambda _: board.apply(next(lines))


def _compared(verb: str, line: str, times: dict[str, float]) -> Iterator[Figure]:
    """The figures of one line: every contender's time, and how many times as fast as each peer planwire is."""
    row = f"{verb} {_ROWS[line]}"
    own = times[f"{verb}_{line}"]
    yield Figure(f"{verb}_{line}_us", own, "µs", cell=Cell(row, "planwire"))
    ratios = []
    for name, peer in _PEERS.items():
        theirs = times.get(f"{peer}_{verb}_{line}")
        if theirs is None:
            continue
        yield Figure(f"{peer}_{verb}_{line}_us", theirs, "µs", cell=Cell(row, _COLUMNS[peer]))
        ratio = f"{verb}_vs_{name}" if line == USUAL else f"{verb}_{line}_vs_{name}"
        ratios.append(Figure(ratio, theirs / own, "x", _TARGETS.get(ratio), Cell(row, f"vs {_COLUMNS[peer]}")))
    yield from ratios
