"""`planwire completion`: a script that lets a shell complete commands, options and the ids of sessions.

shtab writes the script from the parser, so that a new option completes without a line here. Only session ids are ours:
the shell asks `planwire sessions --ids` for them, in the journal that the command line names. Agents make ids up, so no
shell ever evaluates one: it compares and quotes them, and the command prints harmless ones only.
"""

import argparse
from typing import Final

from planwire.cli import build_parser
from planwire.errors import MissingExtra

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "completion_script", "run"]

DESCRIPTION = "Print a script with which a shell completes commands, options and the ids of sessions."

EXAMPLES = """\
examples:
  source <(planwire completion bash)                                       now; in ~/.bashrc, always
  planwire completion zsh > "${fpath[1]}/_planwire"                        then start a new shell
  planwire completion fish > ~/.config/fish/completions/planwire.fish
"""

_BASH: Final = """\
_planwire_sessions() {
    local id word before="" journal=()
    for word in "${COMP_WORDS[@]}"; do
        if [[ $before == --journal ]]; then journal=(--journal "$word"); fi
        before=$word
    done
    while IFS= read -r id; do
        if [[ $id == "$1"* ]]; then printf '%s\\n' "$id"; fi
    done < <(planwire sessions --ids ${journal[@]+"${journal[@]}"} 2>/dev/null)
}

_planwire_files() {
    compgen -f -- "${COMP_WORDS[COMP_CWORD]}"  # shtab would pass an empty word in place of one with a dash
}"""

_ZSH: Final = """\
_planwire_sessions() {
    local -a ids journal
    local at=${words[(I)--journal]}
    if (( at && at + 1 != CURRENT )); then journal=(--journal "${(Q)words[at + 1]}"); fi
    ids=(${(f)"$(planwire sessions --ids $journal 2>/dev/null)"})
    compadd -a ids
}"""

_FISH: Final = """\
function __planwire_sessions
    set -l words (commandline -opc)
    set -l journal
    if set -l at (contains -i -- --journal $words)
        set journal --journal $words[(math $at + 1)]
    end
    planwire sessions --ids $journal 2>/dev/null
end"""

_PREAMBLES: Final = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
SHELLS: Final = tuple(_PREAMBLES)

_FILES: Final = {"bash": "_planwire_files", "zsh": "_files", "fish": "(__fish_complete_path (commandline -ct))"}
_FOLDERS: Final = {"bash": "_shtab_compgen_dirs", "zsh": "_files -/", "fish": "(__fish_complete_directories)"}
_SESSIONS: Final = {"bash": "_planwire_sessions", "zsh": "_planwire_sessions", "fish": "(__planwire_sessions)"}

#: What a shell offers for an argument, by the word that stands for it in the help.
_OFFERS: Final = {
    "-- AGENT ...": _FILES,
    "DIR": _FOLDERS,
    "FILE": _FILES,
    "FILE | -- AGENT ...": _FILES,
    "FOLDER": _FOLDERS,
    "SESSION": _SESSIONS,
    "STREAM": _FILES,
    "URL": _FILES,
    "[SESSION] A [B]": _SESSIONS,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=" | ".join(SHELLS))


def run(arguments: argparse.Namespace) -> int:
    print(completion_script(arguments.shell))
    return 0


def completion_script(shell: str) -> str:
    """The script for one of the `SHELLS`."""
    try:
        import shtab
    except ImportError:
        raise MissingExtra("completion needs shtab: pip install 'planwire[terminal]'") from None
    parser = build_parser()
    [commands] = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for command in commands.values():
        command.description = None  # shtab then takes the summary, for which a list of commands has room
        for action in command._actions:
            if action.metavar in _OFFERS:
                action.complete = _OFFERS[action.metavar]
    return shtab.complete(parser, shell, preamble=_PREAMBLES[shell])
