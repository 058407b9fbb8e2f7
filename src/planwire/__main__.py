"""`python -m planwire` is `planwire`.

Python has the folder that it stands in on its path by now, and had it for what it imported itself: `python -P` has not.
"""

import sys

from planwire.own_process import leave_folder

leave_folder()

from planwire.cli import main  # noqa: E402  (only now does the path lead to no module of the folder)

if __name__ == "__main__":
    sys.exit(main())
