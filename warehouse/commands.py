"""What the three commands share: errors of the disk as one message, and ranges of numbers."""

import errno
from typing import Any

import click

from warehouse.errors import UserError

MOST_RESAMPLES = 100_000  # a choice: beyond it intervals move by less than they are printed to
RESAMPLES = click.IntRange(0, MOST_RESAMPLES)  # of the bootstrap; 0 for none
SEED = click.IntRange(0, 2**32 - 1)  # what NumPy, PyTorch and scikit-learn all take


class Group(click.Group):
    """A file or a disk that cannot be used is a person's to mend, so it is one message."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; errors of the operating system become one message each."""
        try:
            return super().invoke(ctx)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # whoever read the output has gone
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise UserError(
                    f"no space left on the disk ({error.filename or 'while writing'}). Nothing "
                    "half-written stands under a finished name. Free some, then run this again."
                ) from error
            raise UserError(
                f"{error.filename or 'a file'} cannot be used: {error.strerror or error}. Name "
                "another place, or mend that one; RUNS_ROOT is the folder of runs and scores, "
                "SCITLAKE_WAREHOUSE that of the lake, DATA_ROOT that of raw files."
            ) from error
        except RuntimeError as error:
            if "Symlink loop" not in str(error):
                raise
            raise UserError(f"{error}: a link leads to itself. Mend it.") from error
