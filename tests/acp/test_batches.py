"""Several messages on one line."""

import json

import pytest

from planwire import V1, Translator
from planwire.acp.batches import split_batch
from tests.wire import entry, items, plan

FIRST = b'{"a":1}'
HALF_AN_EMOJI = b'{"a":"\\ud800"}'


def test_messages_come_out_as_they_stand_on_the_line() -> None:
    """R36."""
    assert split_batch(b' [{"a":1}, {"b" : 2}]\n') == [FIRST, b'{"b" : 2}']
    assert split_batch(b'\xef\xbb\xbf[{"a":1}]') == [FIRST]


@pytest.mark.parametrize("line", [b"", b"{}", b"[", b"[nonsense]", b"[" * 100_000, b'["unended'])
def test_a_line_that_is_no_batch_has_no_messages(line: bytes) -> None:
    assert split_batch(line) == []


@pytest.mark.parametrize("broken", [HALF_AN_EMOJI, b'{"a":NaN}', b'{"a":"\xff"}', b'{"a":1e999}'])
def test_a_message_that_is_not_quite_json_does_not_cost_the_others(broken: bytes) -> None:
    messages = split_batch(b"[%b,%b]" % (broken, FIRST))
    assert len(messages) == 2
    assert json.loads(messages[1]) == {"a": 1}


def test_a_batch_with_half_an_emoji_is_translated() -> None:
    broken = plan(entry("one")).replace(b"one", b"a\\ud800")
    [line] = Translator(V1).translate(b"[%b,%b]" % (broken, items("p", entry("two"))))
    contents = [e["content"] for message in json.loads(line) for e in message["params"]["update"]["entries"]]
    assert contents == ["a\ufffd", "Plan: a\ufffd", "p: two"]
