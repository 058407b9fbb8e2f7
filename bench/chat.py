"""The model's side: what rendering and compacting a long chat costs, and how much of a request repeats the last one.

Growth is a ratio of the same work on ten times (or a hundred times) as much: 10 is linear, and the garbage collector,
which stays on, adds to it. Both sizes take turns, and the quickest run of each counts. The figure is processor time: a
busy machine interrupts a long run sooner than a short one.
"""

from collections.abc import Callable, Iterable, Iterator
from time import process_time
from typing import Any, Final, cast

import msgspec

from bench.figure import Cell, Figure, at_least, at_most
from bench.progress import say
from planwire.chat import CHAT_FORMATS, ChatStream, Format, Stored, chat_format, compact, read_message, read_stream
from planwire.model.plan import Fields
from planwire.session.blocking import BlockingPlanSession
from planwire.session.options import ProviderFormat

__all__ = ["measure"]

SIZES: Final = (10_000, 100_000)
ROUNDS: Final = 6
#: Messages in a chat before more are added; how many are added then, and how often.
LENGTHS: Final = (100, 10_000)
ADDED: Final = 20
BATCHES: Final = 40
TURNS: Final = 200

#: The formats of the long chats: the default, and the one with the most work. Only the first has targets.
GROWN: Final = ("openai-chat", "anthropic")


def measure() -> Iterator[Figure]:
    yield from _growing()
    yield from _appending()
    yield from _asking_again()


# Long chats


def _growing() -> Iterator[Figure]:
    for form in GROWN:
        say(f"{ROUNDS} rounds with {' and '.join(f'{size:,}' for size in SIZES)} messages, {form}")
        streams = {size: read_stream(msgspec.json.encode(list(_stored(size, form)))) for size in SIZES}
        for name, call in _work(chat_format(form)).items():
            best = dict.fromkeys(SIZES, float("inf"))
            for _ in range(ROUNDS):
                for size in SIZES:
                    best[size] = min(best[size], _seconds(lambda: call(streams[size])))  # noqa: B023
            slug = "" if form == GROWN[0] else f"_{form}"
            for size in SIZES:
                cell = Cell(f"{size:,} messages, {form}", name)
                yield Figure(f"{name}_ms_{size // 1_000}k{slug}", best[size] * 1_000, "ms", cell=cell)
            growth = best[SIZES[1]] / best[SIZES[0]]
            yield Figure(f"{name}_growth_100k_over_10k{slug}", growth, "x", None if slug else at_most(13))


def _work(form: Format) -> dict[str, Callable[[list[Stored]], object]]:
    return {
        "render": lambda messages: ChatStream(form, messages).context(),
        "compact": lambda messages: compact(messages, form, budget=20_000, tail=200),
    }


def _stored(number: int, form: str) -> Iterator[Fields]:
    """A stored chat: questions, calls with results, and hidden messages of every class."""
    for index in range(number):
        name = f"m{index}"
        match index % 10:
            case 0:
                yield {"message_id": name, **_says(form, f"Question {index}: " + "why does it fail here? " * 6)}
            case 1 | 5:
                yield {"message_id": name, **_calls(form, f"c{index}")[0]}
            case 2 | 6:
                yield {"message_id": name, **_result(form, f"c{index - 1}")}
            case 3 if index % 1_000 == 3:
                metadata = {"id": "main", "version": index // 1_000 + 1, "kind": "items"}
                plan = "\n".join(f"s{step} [ ] (medium) Step number {step}" for step in range(1, 19))
                yield {"message_id": name, "role": "plan", "content": plan, "extra": {"plan": metadata}}
            case 3:
                changes = [{"do": "status", "step": f"s{index % 18 + 1}", "status": "completed"}]
                yield _event(name, "plan_delta", {"plan_id": "main", "seq": index, "changes": changes})
            case 4:
                yield _event(name, "tick", {"elapsed_ms": index})
            case 7:
                yield _event(name, "process_completed", {"exit_code": 0, "duration_ms": index})
            case 8:
                yield _event(name, "tool_decision", {"decision": "approved", "tool_call_ids": [f"c{index - 3}"]})
            case _:
                said = _says(form, f"Answer {index}: " + "because of that. " * 8)
                yield {"message_id": name, **said, "role": "assistant"}


def _event(name: str, subkind: str, payload: Fields) -> Fields:
    event = {"subkind": subkind, "source": "bench", "payload": payload}
    return {"message_id": name, "role": "event", "content": subkind, "extra": {"event": event}}


# One message more


def _appending() -> Iterator[Figure]:
    """Add a message and ask for the context again, as an agent does, through a session with its journal in memory.

    The stream alone has a figure too. It copies a list of references, which is all of it that grows with the chat.
    """
    say(f"{BATCHES} times {ADDED} messages after {' and '.join(f'{length:,}' for length in LENGTHS)}")
    best = {length: _appended(length) for length in LENGTHS}
    for length, found in best.items():
        for name, seconds in found.items():
            slug = f"context_append_us_{name.replace(' ', '_')}_{length}"
            yield Figure(slug, seconds * 1_000_000, "us", cell=Cell(f"one more after {length:,}", name))
    yield Figure("context_append_growth", best[LENGTHS[1]]["session"] / best[LENGTHS[0]]["session"], "x", at_most(3))


def _appended(length: int) -> dict[str, float]:
    """The seconds that one more message takes. A short chat starts again for every batch, so that it stays short."""
    best = {"session": float("inf"), "stream alone": float("inf")}
    beginnings, batches = (BATCHES, 1) if length < BATCHES * ADDED else (1, BATCHES)
    for _ in range(beginnings):
        stored = list(_stored(length, "anthropic"))
        stream = ChatStream(chat_format("anthropic"), map(read_message, stored))
        with BlockingPlanSession.open("memory:", "bench", format="anthropic") as session:
            session.add(*stored)
            for name, ask in (("session", _through(session)), ("stream alone", _straight(stream))):
                for batch in range(batches):
                    numbers = range(batch * ADDED, (batch + 1) * ADDED)
                    best[name] = min(best[name], _seconds(lambda: _each(ask, numbers)) / ADDED)  # noqa: B023
    return best


def _each(ask: Callable[[int], object], numbers: Iterable[int]) -> None:
    for number in numbers:
        ask(number)


def _through(session: BlockingPlanSession) -> Callable[[int], object]:
    def ask(number: int) -> object:
        session.add(_says("anthropic", f"One more, {number}"))
        return session.context()

    return ask


def _straight(stream: ChatStream) -> Callable[[int], object]:
    def ask(number: int) -> object:
        stream.add(read_message(_says("anthropic", f"One more, {number}"), f"new-{number}"))
        return stream.context()

    return ask


# What a request has in common with the one before it


def _asking_again() -> Iterator[Figure]:
    say(f"{TURNS} turns in each of {len(CHAT_FORMATS)} formats")
    shares = {}
    for form in CHAT_FORMATS:
        requests = _session_of(form)
        earlier: list[Any] = next(requests)
        shares[form] = 1.0
        for later in requests:
            same = next((at for at, pair in enumerate(zip(earlier, later, strict=False)) if pair[0] != pair[1]), None)
            common = min(len(earlier), len(later)) if same is None else same
            shares[form] = min(shares[form], common / len(earlier))
            earlier = later
        slug = form.replace("-", "_")
        yield Figure(f"cached_prefix_share_{slug}", shares[form], "", cell=Cell(form, "worst share of the prefix"))
    yield Figure("cached_prefix_share", min(shares.values()), "", at_least(1.0))


def _session_of(form: str) -> Iterator[list[Any]]:
    """The requests of a session in which the agent works, people interfere, and now and then a turn is interrupted."""
    with BlockingPlanSession.open("memory:", "bench", format=cast(ProviderFormat, form)) as session:
        session.call("set_plan", {"entries": [f"Step {number}" for number in range(1, 19)]})
        for turn in range(TURNS):
            session.add(_says(form, f"Turn {turn}"))
            yield session.context()
            session.add(*_calls(form, f"c{turn}", f"d{turn}"))
            session.call("update_plan", {"steps": {f"s{turn % 18 + 1}": "completed"}, "note": f"turn {turn}"})
            session.add(_result(form, f"c{turn}"))
            if turn % 7 == 3:
                continue  # the other call gets no result
            session.call("update_plan", {"add": [f"Found in turn {turn}"]})
            session.add(_result(form, f"d{turn}"))
            if turn % 50 == 49:
                session.call("set_plan", {"content": f"# Again\n\n- [ ] from turn {turn}\n" + "- [ ] more\n" * 18})
            yield session.context()


# Messages in every format


def _says(form: str, text: str) -> Fields:
    if form == "gemini":
        return {"role": "user", "parts": [{"text": text}]}
    return {"role": "user", "content": [{"type": "text", "text": text}] if form == "anthropic" else text}


def _calls(form: str, *ids: str) -> list[Fields]:
    match form:
        case "openai-chat":
            function = {"name": "read", "arguments": '{"path":"src/parser.py"}'}
            calls = [{"id": each, "type": "function", "function": function} for each in ids]
            return [{"role": "assistant", "content": None, "tool_calls": calls}]
        case "openai-responses":
            return [{"type": "function_call", "call_id": each, "name": "read", "arguments": "{}"} for each in ids]
        case "anthropic":
            blocks = [{"type": "tool_use", "id": each, "name": "read", "input": {"path": "a.py"}} for each in ids]
            return [{"role": "assistant", "content": [{"type": "text", "text": "I read it."}, *blocks]}]
    return [{"role": "model", "parts": [{"functionCall": {"id": each, "name": "read", "args": {}}} for each in ids]}]


def _result(form: str, call: str) -> Fields:
    text = "def parse(text):\n    return text.split()\n" * 4
    match form:
        case "openai-chat":
            return {"role": "tool", "tool_call_id": call, "content": text}
        case "openai-responses":
            return {"type": "function_call_output", "call_id": call, "output": text}
        case "anthropic":
            return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": text}]}
    answer = {"id": call, "name": "read", "response": {"output": text}}
    return {"role": "user", "parts": [{"functionResponse": answer}]}


def _seconds(call: Callable[[], object]) -> float:
    start = process_time()
    call()
    return process_time() - start
