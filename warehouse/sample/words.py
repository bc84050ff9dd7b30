"""The real English words of the planted world: sections, sub-topics, style and fashion.

Everything rare (concept names, coined terms) is made up in `vocabulary`; the words here are
ordinary, so that a generated abstract reads as English to a language model.
"""

from __future__ import annotations

from typing import Final


def listed(text: str) -> tuple[str, ...]:
    """Words parted by blanks."""
    return tuple(text.split())


# CPC section -> six subclasses, one a sub-topic.
SUBCLASSES: Final[dict[str, tuple[str, ...]]] = {
    "A": ("A61B", "A61K", "A01H", "A23L", "A47C", "A63F"),
    "B": ("B01D", "B23K", "B29C", "B60W", "B65D", "B81C"),
    "C": ("C07D", "C08L", "C12N", "C22C", "C09D", "C25D"),
    "D": ("D01F", "D03D", "D04H", "D06M", "D21H", "D05B"),
    "E": ("E02D", "E04B", "E05B", "E06B", "E21B", "E01C"),
    "F": ("F01D", "F02D", "F16H", "F24F", "F21V", "F28D"),
    "G": ("G06F", "G06N", "G01N", "G02B", "G05B", "G11C"),
    "H": ("H01L", "H04L", "H04W", "H02J", "H01M", "H03M"),
}
# Subclasses that are never a patent's first: only further, "additional" codes.
ADDITIONAL_SUBCLASSES: Final = ("Y02E", "Y02T", "Y10T", "Y02P", "B82Y", "A61P", "G16H", "H05K")

# Fields of study as Semantic Scholar names them, by section.
FIELDS: Final[dict[str, str]] = {
    "A": "Medicine",
    "B": "Engineering",
    "C": "Chemistry",
    "D": "Materials Science",
    "E": "Geology",
    "F": "Engineering",
    "G": "Computer Science",
    "H": "Physics",
}

_SECTION_NOUNS: Final[dict[str, str]] = {
    "A": """patients tissue implants doses seeds crops diets nutrients symptoms organs surgery
        catheters muscles infections vitamins leaves cushions players clinics wounds blood
        therapy plants sleep""",
    "B": """vehicles filters containers welds tools conveyors moulds nozzles presses wheels pumps
        cargo brakes labels robots grippers packages membranes ships lanes particles drills
        adhesives sheets""",
    "C": """polymers catalysts enzymes alloys solvents coatings proteins crystals resins acids
        reactions monomers genes pigments cultures oxides electrolytes steels compounds salts
        glass peptides yields precursors""",
    "D": """fibres yarns fabrics looms threads pulp paper felt stitches dyes webs spindles weaves
        garments cellulose filaments carpets needles bleaching knits cotton finishes rollers
        strands""",
    "E": """foundations walls doors locks wells boreholes roads bridges beams windows soil piles
        concrete roofs tunnels pavements drains scaffolds hinges panels excavation dams bricks
        rigs""",
    "F": """turbines engines blades gears burners lamps valves pistons boilers shafts bearings
        refrigerants exhaust fans ducts heat compressors seals lubricants cylinders combustion
        nozzles coolers springs""",
    "G": """computers images sensors queries memories lenses processors signals datasets software
        users documents displays algorithms controllers clocks instruments programs records
        classifiers photons calibration files networks""",
    "H": """circuits antennas batteries transistors packets channels wafers converters cells grids
        electrodes amplifiers receivers voltages cables motors relays carriers modulation base
        stations chargers routers frequencies diodes""",
}
SECTION_NOUNS: Final[dict[str, tuple[str, ...]]] = {
    section: listed(words) for section, words in _SECTION_NOUNS.items()
}

ADJECTIVES: Final = listed(
    """simple common standard local general direct regular typical practical uniform stable
    ordinary separate compact flexible internal external continuous variable constant initial
    secondary parallel relative partial complete moderate repeated"""
)
# Words whose share rises with a document's quality, hence with its later citations.
PRAISED: Final = listed(
    """robust scalable unified accurate principled efficient versatile lasting reliable
    reproducible"""
)
MODEST: Final = listed(
    """preliminary limited tentative minor incremental narrow provisional dubious modest
    anecdotal"""
)
# Fashionable words with the year of their height: the drift that dates a text.
FASHION: Final[tuple[tuple[str, int], ...]] = (
    ("analogue", 1994), ("microprocessor-based", 1995), ("fuzzy", 1996), ("multimedia", 1997),
    ("object-oriented", 1998), ("networked", 1999), ("web-based", 2000), ("agent-based", 2001),
    ("wireless", 2002), ("ubiquitous", 2003), ("bioinspired", 2004), ("nanoscale", 2005),
    ("service-oriented", 2006), ("multicore", 2007), ("participatory", 2008),
    ("energy-aware", 2009), ("crowdsourced", 2010), ("cloud-based", 2011), ("touch-enabled", 2012),
    ("big-data", 2013), ("wearable", 2014), ("deep", 2015), ("additive", 2016),
    ("connected", 2017), ("autonomous", 2018), ("federated", 2019), ("contactless", 2020),
    ("explainable", 2021), ("carbon-neutral", 2022), ("generative", 2023), ("agentic", 2024),
    ("sovereign", 2025),
)  # fmt: skip
VERBS: Final = listed(
    """measuring controlling preparing assembling comparing joining sorting storing cooling
    monitoring designing producing separating treating selecting testing supporting protecting
    arranging reducing"""
)
ADVERBS: Final = listed("clearly slightly often rarely usually largely partly gradually")
