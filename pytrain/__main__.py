"""`python -m pytrain`, which is how a family starts its vintages."""

import sys

from pytrain.cli import cli

sys.argv[0] = "pytrain"
cli(prog_name="pytrain")
