"""planwire's own processes: the one place that spells how Python starts planwire, or a module of it.

An editor starts the relay in the project's folder, whose files may be anybody's. Python looks for modules there first
(`-m`, `-c`), and wherever PYTHONPATH says. So planwire starts itself with `-I`, as this file, which knows where the
package is. It imports nothing but what every Python has loaded by then.
"""

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

#: The Python that runs this planwire.
PYTHON: "Final" = sys.executable
_HERE: "Final" = os.path.abspath(__file__)  # noqa: PTH100  (pathlib is not loaded yet)
#: The folder that planwire is imported from.
_INSTALLED: "Final" = os.path.dirname(os.path.dirname(_HERE))  # noqa: PTH120


def own_command(*words: str, module: str = "planwire") -> list[str]:
    """The command that runs planwire with these words, or another module of its, in whatever folder."""
    return [*isolated(_HERE), module, *words]


def isolated(*words: str) -> list[str]:
    """The command that runs a file of planwire's and imports nothing from the folder and the environment."""
    return [PYTHON, "-I", *words]


def leave_folder() -> None:
    """Import nothing more from the folder that this process stands in, nor from relative entries of PYTHONPATH."""
    ours = {_folder(), *map(os.path.abspath, _path_entries(absolute=False))}
    sys.path[:] = [each for each in sys.path if each == _INSTALLED or (os.path.isabs(each) and each not in ours)]  # noqa: PTH117


def _folder() -> str:
    """The folder that this process stands in; "" if it is gone."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return ""


def _path_entries(*, absolute: bool) -> list[str]:
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [each for each in entries if os.path.isabs(each) == absolute]  # noqa: PTH117


def _run_module() -> None:
    """Run the module that the first word names, as `python -m` would. This planwire and then the packages that the
    environment names by absolute paths come behind Python's own modules, before other packages."""
    import runpy  # noqa: PLC0415  (only now does the path lead to Python's own)

    places = [at for at, each in enumerate(sys.path) if each.endswith("-packages")]
    at = places[0] if places else len(sys.path)
    sys.path[at:at] = [_INSTALLED, *(each for each in _path_entries(absolute=True) if each != _folder())]
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _run_module()
