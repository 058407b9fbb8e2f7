"""`python -m planwire` is `planwire`."""

import sys

from planwire.cli import main

sys.exit(main())
