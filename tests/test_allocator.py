"""Freed memory is kept where the C library can be told so."""

import platform
import subprocess
import sys

import pytest

_PROBE = """
import resource, sys
import numpy as np
from warehouse.allocator import keep_freed_memory
if sys.argv[1] == "keep":
    assert keep_freed_memory()
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(2):
    np.ones(8_000_000)  # 64 MB, 16 thousand pages
before = faults()
for _ in range(20):
    np.ones(8_000_000)
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these options")
def test_an_array_of_the_same_size_needs_no_new_pages():
    pages = [
        int(subprocess.run([sys.executable, "-c", _PROBE, how], capture_output=True, text=True,
                           check=True).stdout)
        for how in ("keep", "leave")
    ]  # fmt: skip
    assert pages[0] < 200 < pages[1]
