"""Changes inside a line leave every other byte alone."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.acp.splice import Unspliceable, append_element, replace_value, set_members, spell_member

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
SPACES = st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " :  ")])


@given(VALUES, VALUES, st.lists(VALUES, max_size=3), VALUES, SPACES, st.booleans())
def test_an_element_is_added_and_nothing_else_changes(
    before: Any, after: Any, elements: list[Any], new: Any, separators: tuple[str, str], ascii_only: bool
) -> None:
    value = {"a": before, "params": {"x": before, "prompt": elements, "y": after}, "z": [after]}
    line = json.dumps(value, separators=separators, ensure_ascii=ascii_only).encode() + b" \r\n"
    changed = append_element(line, ("params", "prompt"), new)
    assert json.loads(changed) == {**value, "params": {"x": before, "prompt": [*elements, new], "y": after}}
    added = len(changed) - len(line)
    cut = next(at for at in range(len(line) + 1) if line[:at] + changed[at : at + added] + line[at:] == changed)
    assert line[:cut] + line[cut:] == line


@given(VALUES, st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3), SPACES)
def test_members_are_set_in_an_object_that_may_not_be_there(
    other: Any, members: dict[str, Any], separators: tuple[str, str]
) -> None:
    new = {"b": {"new": True}}
    for there, expected in (({"c": members}, {**members, **new}), ({"c": None}, new), ({}, new)):
        value = {"params": {"other": other, **there}}
        line = json.dumps(value, separators=separators).encode()
        assert json.loads(set_members(line, ("params", "c"), new)) == {"params": {"other": other, "c": expected}}


def test_a_value_is_replaced_where_it_stands() -> None:
    line = b'{ "x":["}", {"b":0}], "a" : {"b" : "x\\"]}" } , "c":2}\n'
    assert replace_value(line, ("a", "b"), "new") == b'{ "x":["}", {"b":0}], "a" : {"b" : "new" } , "c":2}\n'


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"not json",
        b'{"params":{"prompt":[1]},"params":{"prompt":[2],"x":{"prompt":[3]}}}',  # which of them counts?
        b'{"params":{"prompt":{}}}',
        b'{"params":[]}',
        b"[]",
        b'{"params":{"prompt":[1',
        b'\xff{"params":{"prompt":[]}}',
    ],
)
def test_a_line_that_is_not_as_expected_is_refused(line: bytes) -> None:
    with pytest.raises(Unspliceable):
        append_element(line, ("params", "prompt"), 1)


def test_a_member_gets_other_names_beside_its_own_or_instead_of_it() -> None:
    line = b'{ "a": {"x" : 1.0e0 , "b":{"x":2}} }\n'
    assert spell_member(line, ("a",), "x", ("y", "x")) == b'{ "a": {"y":1.0e0,"x" : 1.0e0 , "b":{"x":2}} }\n'
    assert spell_member(line, ("a",), "x", ("y",)) == b'{ "a": {"y":1.0e0 , "b":{"x":2}} }\n'
    assert spell_member(line, ("a",), "x", ("b", "x")) == b'{ "a": {"x" : 1.0e0 , "b":1.0e0} }\n'
    wrong = ((("a",), "z", ("x",)), (("a",), "x", ("b",)), (("a", "x"), "x", ("y",)), (("c",), "x", ("y",)))
    for path, name, names in wrong:
        with pytest.raises(Unspliceable):
            spell_member(line, path, name, names)


@pytest.mark.parametrize("depth", range(10, 1_500, 30))
def test_a_line_that_nests_deeply_is_spliced_or_refused(depth: int) -> None:
    line = b'{"x":"p","y":' + b"[" * depth + b"]" * depth + b"}"
    try:
        assert spell_member(line, (), "x", ("z", "x")) == b'{"z":"p",' + line[1:]
    except Unspliceable:
        assert depth > 500
