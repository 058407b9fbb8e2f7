"""Edits of settings as text: nothing of what a person wrote is lost, and taking an edit back leaves no trace."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.cli.jsonc import BadSettings, read_settings
from planwire.cli.settings_edit import drop_items, insert_member, prepend_items, remove_member, replace_value

NAMES = st.sampled_from(["agent_servers", "theme", "a b", "ünï", 'quo"te', "//", "/* no */", ""])
GAPS = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", " // a, {comment}\n", "/* [and, */", "\n    // two\n    "])
VALUES = st.sampled_from(["1", "-2.5e3", "true", "null", '"a // string"', '"\\u00e9\\""', "[]", "{}", '[1, "x",]'])


@st.composite
def settings_texts(draw: st.DrawFn, depth: int = 2) -> str:
    """An object as people write it: comments and spaces anywhere, and a comma behind the last member or none."""
    names = draw(st.lists(NAMES, unique=True, max_size=3))
    values = settings_texts(depth - 1) if depth else VALUES

    def gap() -> str:
        return draw(GAPS)

    members = [f"{gap()}{json.dumps(each)}{gap()}:{gap()}{draw(VALUES | values)}{gap()}" for each in names]
    has_comma = draw(st.booleans())
    comma = f",{gap()}" if members and has_comma else ""
    return f"{{{','.join(members)}{comma}{gap()}}}"


def value_of(text: str) -> Any:
    node = read_settings(text)
    return node.value if node else None


ENTRY = {"command": "planwire", "args": ["relay", "--", "a"], "env": {}}


@given(GAPS, settings_texts(), GAPS)
def test_what_is_inserted_and_removed_again_leaves_no_trace(before: str, text: str, after: str) -> None:
    text = before + text + after
    changed = insert_member(text, (), "planwire", ENTRY)
    assert value_of(changed) == {**value_of(text), "planwire": ENTRY}
    assert comments(changed) == comments(text)
    back = remove_member(changed, ("planwire",))
    assert value_of(back) == value_of(text)
    if value_of(text):
        assert back == text
    else:
        assert "".join(back.split()) == "".join(text.split())


@given(settings_texts(), NAMES, NAMES)
def test_objects_on_the_way_are_made(text: str, outer: str, inner: str) -> None:
    value = value_of(text)
    if isinstance(value.get(outer, {}), dict) and isinstance(value.get(outer, {}).get(inner, {}), dict):
        changed = value_of(insert_member(text, (outer, inner), "planwire", ENTRY))
        assert changed[outer][inner]["planwire"] == ENTRY
        assert {name: each for name, each in changed.items() if name != outer} == {
            name: each for name, each in value.items() if name != outer
        }
    else:
        with pytest.raises(BadSettings, match="an object"):
            insert_member(text, (outer, inner), "planwire", ENTRY)


@given(settings_texts(), st.data())
def test_any_member_can_go_and_the_rest_stays(text: str, data: st.DataObject) -> None:
    value = value_of(text)
    if value:
        name = data.draw(st.sampled_from(sorted(value)))
        changed = remove_member(text, (name,))
        del value[name]
        assert value_of(changed) == value


@given(st.lists(VALUES, max_size=3), GAPS, GAPS, st.lists(st.text(max_size=3), min_size=1, max_size=3))
def test_items_put_first_go_without_a_trace(values: list[str], gap: str, end: str, words: list[str]) -> None:
    text = f'{{"args": [{",".join(gap + each for each in values)}{end}]}}'
    changed = prepend_items(text, ("args",), words)
    assert value_of(changed)["args"] == [*words, *value_of(text)["args"]]
    assert drop_items(changed, ("args",), len(words)) == text


def comments(text: str) -> list[str]:
    words = re.findall(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', text, re.DOTALL)
    return [word for word in words if not word.startswith('"')]


def test_an_edit_looks_as_if_the_person_had_made_it() -> None:
    text = '{\n    // mine\n    "theme": "dark", // nice\n    "agent_servers": {\n        "x": 1 // one\n    }\n}\n'
    assert insert_member(text, ("agent_servers",), "y", {"command": "a"}) == (
        '{\n    // mine\n    "theme": "dark", // nice\n    "agent_servers": {\n        "x": 1, // one\n'
        '        "y": {\n            "command": "a"\n        }\n    }\n}\n'
    )
    assert insert_member('{"a": 1}', (), "y", [1]) == '{"a": 1, "y": [1]}'
    assert (
        insert_member('{\r\n\t"a": 1,\r\n}', (), "y", {"b": 2})
        == '{\r\n\t"a": 1,\r\n\t"y": {\r\n\t\t"b": 2\r\n\t},\r\n}'
    )
    assert insert_member("", ("k",), "y", 1) == '{\n  "k": {\n    "y": 1\n  }\n}\n'
    assert insert_member("// only words", (), "y", 1) == '// only words\n{\n  "y": 1\n}\n'
    assert insert_member("{}", (), "y", 1) == '{\n  "y": 1\n}'
    assert prepend_items('{\n  "a": [\n    "x" // c\n  ]\n}', ("a",), ["p", "q"]) == (
        '{\n  "a": [\n    "p",\n    "q",\n    "x" // c\n  ]\n}'
    )


def test_of_two_members_with_one_name_the_last_counts() -> None:
    """Editors read it so."""
    text = '{"a": {"x": 1}, "a": {"y": 2}}'
    assert insert_member(text, ("a",), "z", 3) == '{"a": {"x": 1}, "a": {"y": 2, "z": 3}}'
    assert replace_value(text, ("a", "y"), "9") == '{"a": {"x": 1}, "a": {"y": 9}}'


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ('{"a": 1,, }', 1, 9, "a name in quotes"),
        ('{\n  "a" 1}', 2, 7, 'a ":" is missing'),
        ('{\n  "a": 1\n  "b": 2}', 3, 3, 'a "," or a "}"'),
        ('{"a": }', 1, 7, "a value is missing"),
        ('{"a": [1', 1, 9, 'a "," or a "]"'),
        ('{"a":', 1, 6, "the text ends here"),
        ('{"a": "x\n"}', 1, 7, "this string has no end"),
        ('{"a": 1 /* }', 1, 9, "this comment has no end"),
        ('{"a": 1.2.3}', 1, 7, "no JSON value"),
        ('{"a": "\\q"}', 1, 7, "no JSON value"),
        ("{} {}", 1, 4, "something follows"),
        ("{'a': 1}", 1, 2, "a name in quotes"),
        ("[" * 200, 1, 102, "nested too deeply"),
    ],
)
def test_a_text_that_does_not_parse_is_named_by_its_place(text: str, line: int, column: int, problem: str) -> None:
    with pytest.raises(BadSettings, match=f"line {line}, column {column}: .*{re.escape(problem)}"):
        read_settings(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_plain_json_reads_as_ever(value: Any) -> None:
    assert value_of(json.dumps(value, indent=1)) == value
    assert value_of("\ufeff" + json.dumps(value, ensure_ascii=False)) == value
