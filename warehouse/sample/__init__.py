"""The generated sample: raw files in the publishers' own layouts, with planted structure.

One `world` (people, papers, inventions, citations), one writer module per publisher. A new
publisher is one more writer named in `generate.write_all`; a new property of a document is one
more draw from a stream of its own (`settings.stream`), which moves no other draw.
"""

from warehouse.sample.faults import FAULTS, Fault
from warehouse.sample.generate import MARKER, generate
from warehouse.sample.settings import SampleSettings

__all__ = ["FAULTS", "MARKER", "Fault", "SampleSettings", "generate"]
