"""`planwire completion`: a script that lets a shell complete commands, options and ids.

shtab writes the script from the parser, so that a new option completes without a change here. Only ids are looked up by
planwire: the shell passes its words to `planwire completion --ids`. No shell ever evaluates an id: it compares and
quotes them, and `offered_ids` returns only harmless ones.
"""

import argparse
from contextlib import suppress
from typing import Final

from planwire.cli import build_parser
from planwire.cli.offered_ids import KINDS, offered_ids
from planwire.errors import PlanwireError
from planwire.extras import missing_extra
from planwire.readmodel.card import PRIORITIES, STATUS_WORDS

DESCRIPTION = (
    "Print a script that lets a shell complete commands, options and the ids of sessions, plans, steps, remarks and "
    "answers."
)

EXAMPLES = """\
examples:
  source <(planwire completion bash)                                       for this shell; put it into ~/.bashrc for all
  planwire completion zsh > "${fpath[1]}/_planwire"                        then start a new shell
  planwire completion fish > ~/.config/fish/completions/planwire.fish
"""

_BASH: Final = """\
_planwire_ids() {
    local id
    while IFS= read -r id; do
        if [[ $id == "$2"* ]]; then printf '%s\\n' "$id"; fi
    done < <(planwire completion --ids "$1" bash "${COMP_WORDS[@]:0:COMP_CWORD}" 2>/dev/null)
}
_planwire_sessions() { _planwire_ids sessions "$1"; }
_planwire_plans() { _planwire_ids plans "$1"; }
_planwire_steps() { _planwire_ids steps "$1"; }
_planwire_remarks() { _planwire_ids remarks "$1"; }
_planwire_options() { _planwire_ids options "$1"; }

_planwire_files() {
    compgen -f -- "${COMP_WORDS[COMP_CWORD]}"  # shtab would pass an empty word in place of one with a dash
}"""

_ZSH: Final = """\
_planwire_ids() {
    local -a ids before
    before=("${(Q@)words[1,CURRENT-1]}")
    if [[ $before[1] != planwire ]]; then before=(planwire $before); fi
    ids=(${(f)"$(planwire completion --ids $1 zsh "${before[@]}" 2>/dev/null)"})
    compadd -a ids
}
_planwire_sessions() { _planwire_ids sessions }
_planwire_plans() { _planwire_ids plans }
_planwire_steps() { _planwire_ids steps }
_planwire_remarks() { _planwire_ids remarks }
_planwire_options() { _planwire_ids options }"""

_FISH: Final = """\
function __planwire_ids
    planwire completion --ids $argv[1] fish (commandline -opc) 2>/dev/null
end"""

_PREAMBLES: Final = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
SHELLS: Final = tuple(_PREAMBLES)

_FILES: Final = {"bash": "_planwire_files", "zsh": "_files", "fish": "(__fish_complete_path (commandline -ct))"}
_FOLDERS: Final = {"bash": "_shtab_compgen_dirs", "zsh": "_files -/", "fish": "(__fish_complete_directories)"}
_IDS: Final = {
    kind: {"bash": f"_planwire_{kind}", "zsh": f"_planwire_{kind}", "fish": f"(__planwire_ids {kind})"}
    for kind in KINDS
}

#: What a shell offers for an argument, by the word that stands for it in the help.
_OFFERS: Final = {
    "-- AGENT ...": _FILES,
    "DIR": _FOLDERS,
    "FILE": _FILES,
    "FILE | -- AGENT ...": _FILES,
    "FOLDER": _FOLDERS,
    "FROM": _FILES,
    "OPTION": _IDS["options"],
    "PLAN": _IDS["plans"],
    "SESSION": _IDS["sessions"],
    "STEP": _IDS["steps"],
    "REMARK": _IDS["remarks"],
    "STREAM": _FILES,
    "TO": _FILES,
    "URL": _FILES,
    "[SESSION] A [B]": _IDS["sessions"],
}

#: The same for arguments that have usual words, but take others, too.
_WORDS: Final = {"PRIORITY": PRIORITIES, "STATUS": STATUS_WORDS}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=" | ".join(SHELLS))
    parser.add_argument("--ids", choices=list(KINDS), help=argparse.SUPPRESS)  # from the scripts
    words = parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    words.required = False  # or a missing SHELL is reported with this name beside it


def run(arguments: argparse.Namespace) -> int:
    if arguments.ids is None:
        print(completion_script(arguments.shell))
        return 0
    with suppress(PlanwireError):  # the line is not complete yet: the command will say what is wrong with it
        for each in offered_ids(arguments.ids, arguments.words):
            print(each)
    return 0


def completion_script(shell: str) -> str:
    """The script for one of the `SHELLS`."""
    try:
        import shtab
    except ImportError as error:
        raise missing_extra("completion", "shtab", error) from error
    parser = build_parser()
    _offer(parser)
    return shtab.complete(parser, shell, preamble=_PREAMBLES[shell])


def _offer(parser: argparse.ArgumentParser) -> None:
    """Say what a shell offers for the arguments of all commands below a parser."""
    for commands in (action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)):
        for command in commands.values():
            command.description = None  # shtab then uses the summary, which fits into a list
            for action in command._actions:
                action.choices = action.choices or _WORDS.get(str(action.metavar))
                if action.metavar in _OFFERS:
                    action.complete = _OFFERS[action.metavar]
            _offer(command)
