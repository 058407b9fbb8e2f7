"""What an agent's hook runs, as `python -S -I entry.py ROLE FOLDER [AGENT]`: it prints its answer or nothing, and ends
with 0.

Python compiles a script each time that it runs, and caches only the modules that it imports. So there is next to
nothing here: `thin_hook` has it all.
"""

import sys


def main() -> None:
    """Run the hook. Its imports are looked for in this folder and the journal's, but last, so that nothing there can
    take the place of a module of Python's own; later imports are not looked for there."""
    here = __file__.rpartition("/")[0] or "."
    sys.path += [here, f"{here}/../journal"]
    from thin_hook import run  # type: ignore[import-not-found]  # it can be found only now

    del sys.path[-2:]
    run(sys.argv[1:])


if __name__ == "__main__":
    try:
        main()
    except BaseException:  # whatever it is, the agent goes on
        pass
