"""Every type of item, block and part that the providers' packages know is in a table: a new one must be put there."""

from typing import Any

import pytest

import planwire.chat.anthropic_blocks as anthropic
import planwire.chat.gemini_parts as gemini
import planwire.chat.openai_items as responses
import planwire.chat.openai_messages as chat
from planwire.chat import chat_format
from planwire.chat.calls import CallRef
from tests.chat.test_formats import understood
from tests.sdk_types import blocks, example, items, kinds, leaves, parts

CALLS = {row.type: row for row in responses.CALLS}
OUTPUTS = {row.output: row for row in responses.CALLS}


def item_unions() -> list[Any]:
    from openai.types import beta
    from openai.types.responses import ResponseInputItemParam, ResponseOutputItem

    return [ResponseInputItemParam, ResponseOutputItem, beta.BetaResponseInputItemParam, beta.BetaResponseOutputItem]


def block_unions() -> list[Any]:
    from anthropic import types
    from anthropic.types import beta

    return [types.ContentBlockParam, types.ContentBlock, beta.BetaContentBlockParam, beta.BetaContentBlock]


def test_every_type_of_item_is_in_a_table() -> None:
    known = {*CALLS, *OUTPUTS, *responses.PLAIN}
    assert [kind for union in item_unions() for kind in kinds(union) if kind not in known] == []


def test_every_type_of_block_is_in_a_table() -> None:
    known = {anthropic.CALL, anthropic.RESULT, *anthropic.HOSTED_CALLS, *anthropic.HOSTED_RESULTS, *anthropic.PLAIN}
    assert [kind for union in block_unions() for kind in kinds(union) if kind not in known] == []


def test_every_field_of_a_part_is_in_a_table() -> None:
    known = {*gemini.CALLS, *gemini.RESULTS, *gemini.HOSTED, *gemini.HOSTED.values(), *gemini.PLAIN}
    assert [field for field in parts() if field not in known] == []


def test_every_type_of_tool_call_and_every_role_is_in_a_table() -> None:
    from anthropic.types import MessageParam
    from openai.types.chat import ChatCompletionMessageParam, ChatCompletionMessageToolCallUnionParam

    assert {*kinds(ChatCompletionMessageToolCallUnionParam)} == {*chat.CALL_TYPES}
    assert {*kinds(ChatCompletionMessageParam, "role")} == chat.ROLES
    assert {*kinds(MessageParam, "role")} == anthropic.ROLES
    assert {role for union in item_unions() for role in kinds(union, "role")} >= responses.ROLES


def test_the_tables_have_nothing_that_no_package_knows() -> None:
    """So a word that is spelled wrong is found."""
    found = {kind for union in item_unions() for kind in kinds(union)}
    assert {*CALLS, *OUTPUTS, *responses.PLAIN} == found
    in_blocks = {kind for union in block_unions() for kind in kinds(union)}
    assert {*anthropic.HOSTED_CALLS, *anthropic.HOSTED_RESULTS, *anthropic.PLAIN} < in_blocks
    known = {*gemini.CALLS, *gemini.RESULTS, *gemini.HOSTED, *gemini.HOSTED.values(), *gemini.PLAIN}
    assert {each for each in known if "_" not in each} == {*parts()}


def test_a_type_that_no_table_has_is_named() -> None:
    """So the tests above can fail."""
    from typing import Literal, TypedDict

    class Tomorrow(TypedDict):
        type: Literal["tomorrow_call"]

    union = item_unions()[0] | Tomorrow
    assert [kind for kind in kinds(union) if kind not in {*CALLS, *OUTPUTS, *responses.PLAIN}] == ["tomorrow_call"]
    assert len(leaves(union)) > 30


@pytest.mark.parametrize("kind", [kind for kind, row in CALLS.items() if row.cancelled is not None])
def test_every_call_of_the_client_is_cancelled_as_the_package_takes_it(kind: str) -> None:
    form, row = chat_format("openai-responses"), CALLS[kind]
    call = example(items()[kind], **{row.id: "c1", "execution": "client"})
    [made] = form.calls(call)
    cancelled = form.cancelled(made)
    assert not made.is_hosted
    assert understood("openai-responses", call) == call
    assert understood("openai-responses", cancelled) == cancelled
    assert [result.answers(made) for result in form.results(cancelled)] == [True]
    assert [result.answers(CallRef("c2", kind=kind)) for result in form.results(cancelled)] == [False]


@pytest.mark.parametrize("kind", ["function_call", "custom_tool_call", "shell_call", "apply_patch_call"])
def test_the_output_of_a_call_by_a_program_names_the_program(kind: str) -> None:
    form, caller = chat_format("openai-responses"), {"type": "program", "caller_id": "p1"}
    [made] = form.calls(example(items()[kind], call_id="c1", caller=caller))
    cancelled = form.cancelled(made)
    assert understood("openai-responses", cancelled) == cancelled
    assert cancelled["caller"] == caller


def test_what_the_server_answers_is_never_cancelled() -> None:
    form = chat_format("openai-responses")
    container = {"type": "container_reference", "container_id": "x"}
    for call in (
        example(items()["program"], call_id="c1"),
        example(items()["tool_search_call"], call_id="c1", execution="server"),
        example(items()["tool_search_call"]),
        example(items()["shell_call"], call_id="c1", environment=container),
        {"type": "multi_agent_call", "call_id": "c1", "action": "wait_agent", "arguments": "{}"},
    ):
        assert [made.is_hosted for made in form.calls(call)] == [True]
    assert form.calls({"type": "call_of_tomorrow_call", "call_id": "c1"}) == ()


def test_the_summary_of_a_server_stands_for_all_before_it() -> None:
    compaction = example(items()["compaction"])
    assert chat_format("openai-responses").stands_for_all_before(compaction)
    made, failed = (example(blocks()["compaction"], content=content) for content in ("all that was", None))
    form = chat_format("anthropic")
    assert form.stands_for_all_before({"role": "assistant", "content": [{"type": "text", "text": "x"}, made]})
    assert not form.stands_for_all_before({"role": "assistant", "content": [failed]})
    for name in ("openai-chat", "gemini"):
        assert not chat_format(name).stands_for_all_before({"role": "user", "content": "compaction"})
