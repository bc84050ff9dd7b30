"""How the C library keeps memory that was freed."""

import ctypes
import platform

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # of glibc's malloc.h
_MOST = 2**31 - 1


def keep_freed_memory() -> bool:
    """Keep large freed blocks for the next step instead of giving them back; whether it could.

    Every training step frees and takes the same arrays of tens of megabytes. glibc maps each of
    them anew, and the kernel clears every page again: an eighth of the time of a small model. Other
    C libraries are left as they are. Call it in a process that trains or embeds, not in a reader.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(_MMAP_MAX, 0)) and bool(mallopt(_TRIM_THRESHOLD, _MOST))
