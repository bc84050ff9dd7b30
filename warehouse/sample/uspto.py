"""The patent office's own files: withdrawn patents and events of maintenance fees.

Source: USPTO, withdrawn.zip; product PTMNFEE2, documentation of June 2018 and before.
"""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path

from warehouse.sample.faults import FaultBook
from warehouse.sample.files import write_text, write_text_zip
from warehouse.sample.settings import stream
from warehouse.sample.world import Invention, World

RELEASED = date(2026, 5, 12)
OLD_RELEASE = date(2003, 6, 2)  # the older release in the older layout holds events up to here
OLD_CODES_TO = date(2000, 1, 1)  # events before it have codes of three digits (our choice)
_PAID = ("M{}551", "M{}552", "M{}553")
_OLD_PAID = {1: ("M183", "M184", "M185"), 2: ("M283", "M284", "M285")}
_SIZE = {"N": 1, "Y": 2, "M": 3}  # first digit of a code


class Event:
    """One line of the fee events, before it is set in a layout."""

    __slots__ = ("application", "code", "day", "entity", "filed", "granted", "patent")

    def __init__(self, patent: Invention, entity: str, day: date, code: str) -> None:
        """An event of a patent."""
        self.patent, self.application = patent.patent_id, patent.application_id
        self.entity, self.code = entity, code
        self.filed, self.granted = f"{patent.filed:%Y%m%d}", f"{patent.granted:%Y%m%d}"
        self.day = f"{day:%Y%m%d}"

    @property
    def key(self) -> tuple[str, str, str]:
        """Patent, day and code."""
        return self.patent, self.day, self.code.strip()

    def line(self, width: int = 13) -> str:
        """The line in the layout whose patent number has `width` characters: 13 or 7."""
        patent = self.patent.rjust(width, "0")
        fields = (patent, self.application, self.entity, self.filed, self.granted, self.day)
        return " ".join((*fields, self.code.ljust(5)))


def write_uspto(world: World, folder: Path, book: FaultBook) -> None:
    """Write `uspto/withdrawn.zip` and two releases of `uspto/MaintFeeEvents`."""
    at = folder / "uspto"
    _write_withdrawn(at, world, book)
    _write_fees(at, world, book)


def _write_withdrawn(at: Path, world: World, book: FaultBook) -> None:
    flagged = set(book.planted["patent_withdrawn"])
    plain = [p.patent_id for p in world.patents if p.patent_id not in flagged]
    listed = book.take("withdrawn_listed", plain)
    designs = book.planted["patent_design"][: book.extra("withdrawn_design", len(plain))]
    book.note("withdrawn_design", designs)
    unheld = [str(4_100_000 + 11 * n) for n in range(book.extra("withdrawn_unheld", len(plain)))]
    book.note("withdrawn_unheld", unheld)
    numbers = sorted(f"{key:0>10}" for key in {*flagged, *listed, *unheld})
    numbers += [f"D{key[1:]:0>7}" for key in designs]
    text = "".join(f"{number}\n" for number in numbers)
    write_text_zip(at / "withdrawn.zip", f"withdrawn{RELEASED:%m%d%Y}.txt", text)


def _write_fees(at: Path, world: World, book: FaultBook) -> None:
    events = [event for patent in world.patents for event in _events(world, patent, book)]
    old = [event for event in events if event.day <= f"{OLD_RELEASE:%Y%m%d}"]
    book.note("fee_old_layout", [event.key for event in old])
    book.note("fee_old_code", [e.key for e in old if len(e.code) == 4 and e.code[1:].isdigit()])
    # What is spoilt in the newer release must not come back whole from the older one.
    recent = {event.key: event for event in events[::-1] if event.day > f"{OLD_RELEASE:%Y%m%d}"}
    keys = sorted(recent)
    loose = [recent[key] for key in sorted(book.take("fee_without_places", keys))]
    spoilt = {id(event) for event in loose}
    for name, part, value in (
        ("fee_undated", "day", "00000000"),
        ("fee_filing_zero", "filed", "00000000"),
        ("fee_filing_blank", "filed", " " * 8),
    ):
        for key in book.take(name, keys):
            setattr(recent[key], part, value)
            spoilt.add(id(recent[key]))
    whole = [event for event in events if id(event) not in spoilt]
    again = stream(world.settings.seed, "fault", "fees").sample(
        whole, book.extra("fee_duplicate", len(events))
    )
    book.note("fee_duplicate", [event.key for event in again])
    lines = [_loose(event.line()) if event in loose else event.line() for event in events]
    lines += [event.line() for event in again]
    lines += _foreign_lines(world, book)
    if book.extra("fee_short_line", len(lines)):
        lines.insert(len(lines) // 2, "0000009999998 10123456")
        book.note("fee_short_line", ["9999998"])
    if book.extra("fee_bad_date", len(lines)):
        lines.insert(len(lines) // 3, "0000009999997 10123456 N 20100101 20120306 2016O9O6 M1551")
        book.note("fee_bad_date", ["9999997"])
    name = f"MaintFeeEvents_{RELEASED:%Y%m%d}"
    text = "".join(f"{line}\r\n" for line in lines)
    write_text_zip(at / f"{name}.zip", f"{name}.txt", text)
    text = "".join(f"{event.line(7)}\n" for event in old)
    write_text(at / f"MaintFeeEvents_{OLD_RELEASE:%Y%m%d}.txt", text)


def _loose(line: str) -> str:
    """The fields of a line parted by blanks, at no fixed place."""
    return "  " + "   ".join(line.lstrip("0").split())


def _foreign_lines(world: World, book: FaultBook) -> list[str]:
    """Events of a reissue, and of patents that the sample does not hold."""
    like = world.patents[0]
    lines = []
    for name, ids in (
        ("fee_reissue", book.planted["patent_reissue"]),
        ("fee_unheld", [str(4_700_001 + 17 * n) for n in range(99)]),
    ):
        ids = ids[: book.extra(name, len(world.patents))]
        book.note(name, list(ids))
        for patent_id in ids:
            event = Event(like, "N", date(2004, 3, 1), "M1551")
            event.patent = patent_id
            lines.append(event.line())
    return lines


def _events(world: World, patent: Invention, book: FaultBook) -> list[Event]:
    """Fees that fall due 3.5, 7.5 and 11.5 years after the grant; half a year later it lapses.

    Good patents are kept longer: what makes renewal learnable from text.
    """
    rng = stream(world.settings.seed, "fees", patent.key)
    owner = patent.assignee
    entity = "N" if owner and owner.name.startswith("Firm") else rng.choice("YYYM")
    if entity == "M" and patent.granted.year < 2010:
        entity = "Y"  # micro entities came with the act of 2011
    events: list[Event] = []
    for step, years in enumerate((4, 8, 12)):
        due = patent.granted + timedelta(days=round(365.25 * years) - rng.randint(20, 180))
        lapse = patent.granted + timedelta(days=round(365.25 * years) + 1)
        if due > RELEASED:
            break
        if rng.random() < 0.82 - 0.08 * step + 0.12 * max(-1.5, min(1.5, patent.idea.quality)):
            events.append(Event(patent, entity, due, _code(step, entity, due)))
            continue
        if lapse > RELEASED:
            break
        events.append(Event(patent, entity, due, "REM."))
        events.append(Event(patent, entity, lapse, "EXP."))
        if not _reinstate(rng, patent, entity, lapse, events, book):
            break
    return events


def _code(step: int, entity: str, day: date) -> str:
    if day < OLD_CODES_TO and entity != "M":
        return _OLD_PAID[_SIZE[entity]][step]
    return _PAID[step].format(_SIZE[entity])


def _reinstate(
    rng: random.Random,
    patent: Invention,
    entity: str,
    lapse: date,
    events: list[Event],
    book: FaultBook,
) -> bool:
    """Undo some expiries, on the same day or later, as far as the fault table asks."""
    for name, code, days in (("fee_same_day", "EXPX", 0), ("fee_reinstated", "REIN", 200)):
        planted = book.planted.setdefault(name, [])
        day = lapse + timedelta(days=days)
        if len(planted) < book.extra(name, 0) and day <= RELEASED and rng.random() < 0.1:
            events.append(Event(patent, entity, day, code))
            planted.append(patent.patent_id)
            return True
    return False
