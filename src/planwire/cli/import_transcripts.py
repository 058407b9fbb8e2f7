"""`planwire import --from`: the past sessions of an agent, from its own transcripts."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from time import time_ns
from typing import Final

from planwire.cli.forget import duration
from planwire.cli.input_output import print_json
from planwire.errors import InputError, NoJournal
from planwire.hooks.drained import open_drained
from planwire.hooks.importing import Imported, Skipped, import_session
from planwire.hooks.transcript_files import TRANSCRIPTS, PastSession, UnreadTranscript
from planwire.hooks.transcripts import Keep
from planwire.journal import Journal
from planwire.readmodel.plain_text import counted, one_line

#: The options that mean nothing without --from.
_OPTIONS: Final = ("folder", "since", "with_prompts", "with_thoughts", "dry_run")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = " | ".join(TRANSCRIPTS)
    parser.add_argument(
        "--from", dest="agent", metavar="AGENT", choices=list(TRANSCRIPTS), help=f"past sessions of an agent: {names}"
    )
    parser.add_argument("--folder", metavar="DIR", help="with --from: only sessions that began in this folder")
    parser.add_argument("--since", metavar="TIME", type=duration, help="with --from: only those of the last 30d, 12h …")
    parser.add_argument("--with-prompts", action="store_true", help="with --from: title sessions by what you asked")
    parser.add_argument("--with-thoughts", action="store_true", help="with --from: keep what the agent thought, too")
    parser.add_argument("--dry-run", action="store_true", help="with --from: import nothing, and say what would be")


def check(arguments: argparse.Namespace) -> None:
    """Refuse options that would mean nothing."""
    if arguments.agent is None:
        for name in _OPTIONS:
            if getattr(arguments, name):
                raise InputError(f"--{name.replace('_', '-')} needs --from AGENT")
    elif arguments.new_id is not None:
        raise InputError("--as can't be used with --from: a session keeps the id that its agent gave it")
    elif arguments.file == "-":
        raise InputError("transcripts are files: pass one, or a folder of them, instead of -")


def run(arguments: argparse.Namespace) -> int:
    place = Path(arguments.file) if arguments.file is not None else None
    if place is not None and not place.exists():
        raise InputError(f"there is no file or folder {arguments.file}")
    found = list(TRANSCRIPTS[arguments.agent](place))
    unread = [each for each in found if isinstance(each, UnreadTranscript)]
    wanted = [each for each in found if isinstance(each, PastSession) and _is_wanted(each, arguments)]
    if not found:
        where = arguments.file or "its usual place"
        raise InputError(f"{arguments.agent} left no transcripts in {where}: pass the folder that holds them")
    if unread and len(unread) == len(found):
        raise InputError(f"{one_line(unread[0].place)} can't be imported: {unread[0].why}")
    results = list(_results(wanted, arguments))
    imported = [each for each in results if isinstance(each, Imported)]
    skipped = [each for each in results if isinstance(each, Skipped)]
    skipped += [Skipped(None, each.place, each.why) for each in unread]
    if arguments.json:
        lists = {"imported": [each._asdict() for each in imported], "skipped": [each._asdict() for each in skipped]}
        print_json({"dry_run": arguments.dry_run, **lists})
    else:
        _print(imported, Counter(each.why for each in skipped), dry=arguments.dry_run)
    return 0


def _is_wanted(past: PastSession, arguments: argparse.Namespace) -> bool:
    if arguments.since is not None and past.changed < time_ns() // 1_000_000 - arguments.since:
        return False
    if arguments.folder is None:
        return True
    return past.folder is not None and Path(past.folder).is_relative_to(Path(arguments.folder).resolve())


def _results(wanted: list[PastSession], arguments: argparse.Namespace) -> Iterator[Imported | Skipped]:
    keep = Keep(arguments.with_prompts, arguments.with_thoughts)
    with ExitStack() as stack:
        journal: Journal | None = None
        with suppress(NoJournal):
            journal = stack.enter_context(open_drained(arguments.journal, create=not arguments.dry_run))
        yield from _one_by_one(journal, wanted, keep, dry=arguments.dry_run, here=arguments.file is None)


def _one_by_one(
    journal: Journal | None, wanted: list[PastSession], keep: Keep, *, dry: bool, here: bool
) -> Iterator[Imported | Skipped]:
    shows = sys.stderr.isatty()
    for number, past in enumerate(sorted(wanted, key=lambda each: each.changed), start=1):
        if shows:
            print(f"\r{number:,} of {len(wanted):,} sessions", end="", file=sys.stderr, flush=True)
        yield import_session(journal, past, keep, dry=dry, here=here)
    if shows and wanted:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def _print(imported: list[Imported], skipped: Counter[str], *, dry: bool) -> None:
    for each in imported:
        about = one_line(each.title or each.folder or "")
        print(f"  {one_line(each.session)}  {counted(each.plans, 'plan')}  {about}".rstrip())
    plans = sum(each.plans for each in imported)
    verb = "Would import" if dry else "Imported"
    print(f"{verb} {counted(len(imported), 'session')} with {counted(plans, 'plan')}.")
    for why, count in skipped.most_common():
        print(f"Left out {count:,}: {one_line(why)}.")
