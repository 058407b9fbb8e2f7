"""`planwire context` and `planwire compact`, as a person calls them: real processes, files and pipes."""

import json
from pathlib import Path
from typing import Any

import pytest

from planwire.chat import CHAT_FORMATS, ChatStream, Ordinary, chat_format, compact, read_stream, write_stream
from planwire.cli.streams import format_of
from planwire.model.plan import Fields
from tests.chats import FORMATS, Chat, answers, assert_a_provider_takes, delta, event, plan, result, says
from tests.cli.test_wire_commands import planwire


def chat(form: str, calls: int = 1) -> Chat:
    made = Chat(form)
    made.add(plan("p1", "- [ ] old"), plan("p2", "- [ ] new", version=2), delta("d1", "a note", seq=1))
    for number in range(6):
        made.add(says(form, f"Question {number} " * 30), event(f"t{number}", "tick"))
        made.add(event(f"x{number}", "cron_fire", "cron"))
        if calls:
            made.call(calls)
            made.answer(0)
    made.add(answers(form, "Done"))
    return made


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    path = tmp_path / "stream.json"
    path.write_bytes(write_stream(chat("anthropic").stream.messages))
    return path


@pytest.mark.parametrize("form", FORMATS)
def test_context_prints_what_the_provider_is_sent(form: str) -> None:
    made = chat(form).stream
    printed = planwire("context", "-", "--format", form, stdin=write_stream(made.messages)).stdout
    assert json.loads(printed) == made.context()


def test_context_reads_a_file_and_finds_its_format(stream: Path) -> None:
    printed = json.loads(planwire("context", str(stream)).stdout)
    assert printed == ChatStream(chat_format("anthropic"), read_stream(stream.read_bytes())).context()
    assert "cache_control" in str(printed)


@pytest.mark.parametrize("form", FORMATS)
def test_the_format_is_the_one_in_which_the_messages_call_tools(form: str) -> None:
    assert format_of(chat(form).stream.messages, None).name == form
    assert format_of(chat(form).stream.messages, "gemini").name == "gemini"


def test_without_calls_the_format_is_the_plainest() -> None:
    assert format_of([Ordinary("m", {"role": "user", "content": "Hi"})], None) is CHAT_FORMATS["openai-chat"]
    assert format_of([Ordinary("m", says("gemini", "Hi"))], None).name == "gemini"


def test_a_trajectory_stays_one(tmp_path: Path) -> None:
    """The object around the messages comes back, whatever it holds, and no role of others is sent."""
    made: Fields = {"id": "chat-1", "messages": [{"role": "goal", "content": "Ship it"}], "title": "Über"}
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps(made))
    [shown] = json.loads(planwire("context", str(path)).stdout)
    assert shown == {"role": "user", "content": "<goal>\n<text>Ship it</text>\n</goal>"}
    printed = json.loads(planwire("compact", str(path)).stdout)
    assert printed == {**made, "messages": [{"message_id": "m1", **made["messages"][0]}]}


def test_messages_need_no_ids_to_be_looked_at() -> None:
    given = [{"role": "user", "content": "Hi"}, {"role": "plan", "content": "- [ ] a"}]
    printed = json.loads(planwire("context", "-", stdin=json.dumps(given).encode()).stdout)
    assert printed[0] == given[0]
    assert printed[1]["content"].startswith('<plan id="main"')


def test_compact_prints_the_stream_and_says_what_went(stream: Path) -> None:
    done = planwire("compact", str(stream), "--budget", "600", "--tail", "4")
    messages = read_stream(stream.read_bytes())
    expected = compact(messages, chat_format("anthropic"), budget=600, tail=4)
    assert done.stdout == write_stream(expected.stream)
    assert_a_provider_takes("anthropic", ChatStream(chat_format("anthropic"), read_stream(done.stdout)).context())
    said = done.stderr.decode().splitlines()
    assert said[0] == f"tokens     {expected.tokens_before:,} before, {expected.tokens_after:,} after, of 600 allowed"
    assert said[1] == f"messages   {len(messages)} before, {len(expected.messages)} after"
    assert said[2].startswith("left out   6 DropOnAge, 3 KeepRecentN, ")
    assert said[2].endswith("; markers that stand for them: 2")
    assert said[3] == "past       1 about superseded or removed plans: stored, and not shown"
    assert len(said) == 4


def test_compact_says_by_how_much_it_is_over(stream: Path) -> None:
    said = planwire("compact", str(stream), "--budget", "5", "--tail", "0").stderr.decode().splitlines()
    assert said[-1].startswith("over by    ")
    assert int(said[-1].split()[2].replace(",", "")) > 0


def test_without_a_budget_only_the_classes_apply(stream: Path) -> None:
    done = planwire("compact", str(stream), "--tail", "0", "--recent", "1")
    after = read_stream(done.stdout)
    ordinary = [message for message in read_stream(stream.read_bytes()) if isinstance(message, Ordinary)]
    assert [message for message in after if isinstance(message, Ordinary)] == ordinary
    assert "left out   6 DropOnAge, 5 KeepRecentN" in done.stderr.decode()


def test_what_compact_prints_can_be_compacted_again(stream: Path) -> None:
    once = planwire("compact", str(stream), "--budget", "600", "--tail", "4").stdout
    twice = planwire("compact", "-", "--budget", "600", "--tail", "4", stdin=once)
    assert twice.stdout == once
    assert "left out   nothing" in twice.stderr.decode()


def test_compact_json_has_the_promised_shape(stream: Path) -> None:
    done = planwire("compact", str(stream), "--budget", "600", "--tail", "4", "--json")
    report: dict[str, Any] = json.loads(done.stdout)
    assert done.stderr == b""
    assert list(report) == ["stream", "tokens_before", "tokens_after", "over_by", "left_out", "retired", "written"]
    assert report["retired"] == ["p1"]
    assert report["over_by"] == 0
    assert set(report["written"]) <= {message["message_id"] for message in report["stream"]}


def test_nothing_that_a_terminal_obeys_is_printed() -> None:
    hostile = write_stream([plan("p", "\x1b]0;title\x07 \x9b2J \u202e"), Ordinary("m", says("openai-chat", "\x9b2J"))])
    for command in ("context", "compact"):
        printed = planwire(command, "-", stdin=hostile).stdout.decode()
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(printed)
        assert json.loads(printed)


@pytest.mark.parametrize("command", ["context", "compact"])
@pytest.mark.parametrize(
    ("stdin", "complaint"),
    [
        (b"", "planwire: -: a stream must be a JSON list of messages, but this is not JSON: Input data was truncated"),
        (
            b"{}",
            "planwire: -: a stream must be a JSON list of messages, or an object with such a list as `messages`, but "
            "this is an object",
        ),
        (b"[1]", "planwire: -: message 0 (counted from 0): a message must be a JSON object, but this is a number"),
        (b'[{"a":' * 3_000, "planwire: -: a stream must be a JSON list of messages, but this is not JSON"),
    ],
)
def test_a_bad_stream_is_refused_in_one_line(command: str, stdin: bytes, complaint: str) -> None:
    done = planwire(command, "-", stdin=stdin, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    [line] = done.stderr.decode().splitlines()
    assert line.startswith(complaint)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = planwire("compact", str(tmp_path / "none.json"), check=False)
    assert done.returncode == 2
    assert done.stderr.decode() == f"planwire: {tmp_path / 'none.json'} can't be read: No such file or directory\n"


def test_numbers_are_checked() -> None:
    done = planwire("compact", "-", "--budget", "-3", check=False)
    assert done.returncode == 2
    assert "expected a number, 0 or more, found '-3'" in done.stderr.decode()


def test_an_answer_to_nobody_is_shown_as_a_notice() -> None:
    given: list[Fields] = [says("openai-chat", "Hi"), result("openai-chat", "c9")]
    printed = planwire("context", "-", "--format", "openai-chat", stdin=json.dumps(given).encode()).stdout
    assert_a_provider_takes("openai-chat", json.loads(printed))
