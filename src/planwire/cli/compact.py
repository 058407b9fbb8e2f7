"""`planwire compact`: a stream after a compaction."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from planwire.chat import Compaction, Stored, compact, write_message, write_stream
from planwire.chat.compaction import TAIL
from planwire.chat.markers import retired_ids
from planwire.chat.messages import in_one_form
from planwire.chat.roles import CLASSES, KEPT_RECENT, class_of
from planwire.cli.argument_types import digits, number
from planwire.cli.input_output import print_json, write_text
from planwire.cli.streams import STREAM_SHAPE, add_stream_arguments, format_of, stream_file
from planwire.readmodel.plain_text import escaped_json

DESCRIPTION = "Print a chat after a compaction, in the stored shapes. The report goes to stderr."

EXAMPLES = f"""\
examples:
  planwire compact stream.json --budget 8000 > shorter.json      leave out what matters least, down to 8,000 tokens
  planwire compact stream.json --budget 8000 --tail 50           but none of the last 50 messages
  planwire compact stream.json                                   drop only outdated messages: no budget, no summary
  planwire compact stream.json --json | jq .tokens_after         the stream and the report for a program

What was said about finished steps goes first, the first user message and pinned ones last. Plans and the
changes to them stay byte for byte. Plans that were superseded or removed stay in the file, but
the model no longer sees them. Tokens are guessed from the text.

{STREAM_SHAPE}"""


_count = number("a number, 0 or more", digits, lambda count: count >= 0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_stream_arguments(parser)
    parser.add_argument("--budget", metavar="N", type=_count, help="the most tokens to leave (default: no limit)")
    parser.add_argument(
        "--tail", metavar="N", type=_count, default=TAIL, help=f"messages to keep at the end (default: {TAIL})"
    )
    parser.add_argument(
        "--recent",
        metavar="N",
        type=_count,
        default=KEPT_RECENT,
        help=f"events to keep of each source and kind (default: {KEPT_RECENT})",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object with the stream and the report")


def run(arguments: argparse.Namespace) -> int:
    messages, around = stream_file(arguments.stream)
    compaction = compact(
        messages,
        format_of(messages, arguments.format),
        budget=arguments.budget,
        tail=arguments.tail,
        recent=arguments.recent,
    )
    left_out = _left_out(messages, compaction)
    if arguments.json:
        report = {
            "stream": [write_message(message) for message in in_one_form(compaction.stream)],
            "tokens_before": compaction.tokens_before,
            "tokens_after": compaction.tokens_after,
            "over_by": compaction.over_by,
            "left_out": left_out,
            "retired": [message.id for message in compaction.retired],
            "written": [message.id for message in compaction.written],
        }
        print_json(report)
    else:
        write_text(escaped_json(write_stream(in_one_form(compaction.stream), around).decode()))
        print(*_words(len(messages), compaction, left_out, arguments.budget), sep="\n", file=sys.stderr)
    return 0


def _left_out(messages: Sequence[Stored], compaction: Compaction) -> dict[str, int]:
    """The number of messages that went, by class. Superseded plans don't count: the file still has them."""
    gone = {*compaction.left_out} - {message.id for message in compaction.retired}
    counts = Counter(class_of(each) for each in messages if each.id in gone and retired_ids(each) is None)
    return {name: counts[name] for name in CLASSES if counts[name]}


def _words(number: int, compaction: Compaction, left_out: dict[str, int], budget: int | None) -> Iterator[str]:
    allowed = "" if budget is None else f", of {budget:,} allowed"
    yield f"tokens     {compaction.tokens_before:,} before, {compaction.tokens_after:,} after{allowed}"
    yield f"messages   {number:,} before, {len(compaction.messages):,} after"
    went = ", ".join(f"{count:,} {name}" for name, count in left_out.items())
    markers = f"; markers that stand for them: {len(compaction.written):,}" if compaction.written else ""
    yield f"left out   {went or 'nothing'}{markers}"
    if compaction.retired:
        yield f"past       {len(compaction.retired):,} about superseded or removed plans: stored, and not shown"
    if compaction.over_by:
        yield f"over by    {compaction.over_by:,} tokens: plans, changes to them, instructions and the tail never go"
