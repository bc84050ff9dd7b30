"""How the threads of the math libraries wait for work."""

import os


def sleep_when_idle() -> None:
    """Let an idle thread sleep after some 50 microseconds instead of 15 ms.

    On two cores that others use too, the spinning cost a training four fifths of its speed. The
    variable is read when torch loads, so packages call this before they import anything; a value
    that is set already stays.
    """
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
