"""Sentence templates. `{c}` a concept of the document, `{n}` a noun of its section, `{t}` a
coined term, `{a}` an adjective, `{f}` a fashionable word, `{q}` a word of praise or modesty,
`{v}` a verb in -ing, `{d}` an adverb, `{x}` a number.
"""  # noqa: D205

from __future__ import annotations

from typing import Final

Template = tuple[str, ...]


def _parse(lines: str) -> tuple[Template, ...]:
    """Split each line at its braces: odd places hold the names of slots."""
    return tuple(
        tuple(part for piece in line.strip().split("{") for part in piece.split("}", 1))
        for line in lines.strip().splitlines()
    )


PAPER_OPENING: Final = _parse("""
The role of {c} in {v} {n} has long been debated, and the influence of {c} remains unclear.
We study {c} and {c} for {v} {n} under {a} conditions.
Recent work on {n} has shown that {c} depends on {c} in ways that are {d} understood.
In this paper we present a {f} approach to {v} {n} that is based on {c}.
Although {c} is widely used with {n}, little is known about how it interacts with {c}.
This article reports a {q} investigation of {c} in {a} {n}.
""")
PAPER_MIDDLE: Final = _parse("""
Our method combines {c} with {c}, so that the {n} can be described by a {a} model.
We introduce {t} as a means of {v} {n} without changing the {c} itself.
Experiments with {x} samples show that {c} improves the quality of {n} by {x} percent.
A {q} analysis of the {n} reveals that {c} is {d} coupled to {c}.
We compare the {f} variant with a {a} baseline in which {c} is replaced by {c}.
The {n} were prepared by {v} the {c} and were then examined for {x} hours.
Unlike earlier work, the {q} procedure does not assume that {c} is {a}.
The use of {t} together with {c} leads to a {q} description of the {n}.
Measurements of {c} agree with the prediction of the {f} theory within {x} percent.
For {a} {n} the effect of {c} was found to be larger than the effect of {c}.
We further observe that {v} the {c} changes the response of the {n}.
It is shown that the {n} can be recovered when {c} and {t} are both present.
The data suggest that {c} acts as a {a} constraint on {v} {n}.
""")
PAPER_CLOSING: Final = _parse("""
These results indicate that {c} offers a {q} way of {v} {n} in practice.
We conclude that {c} should be taken into account when {n} are designed.
The findings open a {f} perspective on {c} and its relation to {n}.
Limitations of the {q} method and directions for future work on {c} are discussed.
""")
PATENT_OPENING: Final = _parse("""
A {f} system for {v} {n} includes a {c} and a {c} that is connected to the {n}.
An apparatus is disclosed in which a {c} is arranged for {v} {n}.
A method of {v} {n} comprises providing a {c} and applying the {c} to at least one of the {n}.
The present invention relates to a {q} device having a {c}, a housing and a {c}.
Disclosed are {n} that comprise a {c} and, in one embodiment, a {a} {c}.
""")
PATENT_MIDDLE: Final = _parse("""
The {c} is coupled to a {c} so that the {n} are held in a {a} position.
In some embodiments the {n} are provided with a {t} which cooperates with the {c}.
The {q} arrangement allows {v} the {n} without removing the {c}.
A {a} portion of the {c} extends over the {n} and is secured by means of a {c}.
A controller receives a signal from the {c} and adjusts the {n} in response to the signal.
The {f} unit determines whether the {c} exceeds a threshold of {x} units.
At least one {c} is disposed between the {n} and the {a} surface of the {c}.
The method further comprises {v} the {n} in the presence of the {t}.
When the {c} is released, the {n} are returned to the {a} state by the {c}.
The {n} may be formed of {x} layers, one of which carries the {c}.
The {t} is configured for {v} the {c} and is {d} replaced.
""")
PATENT_CLOSING: Final = _parse("""
In this way {v} {n} becomes {q} and the cost of the {c} is reduced.
The {c} thereby provides a {q} means for {v} the {n}.
Related methods of {v} {n} with the {c} are also described.
""")
CLAIM_FIRST: Final = _parse("""
1. A system for {v} {n}, the system comprising: a {c}; a {c} coupled to the {c}; and a {t}.
1. A method of {v} {n}, comprising: providing a {c}; and {v} the {n} by means of the {c}.
1. An apparatus comprising a {a} {c} and a {c} which is arranged for {v} {n}.
""")
CLAIM_FURTHER: Final = _parse("""
The device of claim 1, wherein the {c} comprises a {a} {c}.
The device of claim 1, further comprising a {t} in contact with the {n}.
The device of claim 1, wherein the {n} are kept at {x} percent of the {c}.
""")
DRAWING: Final = _parse("""
is a perspective view of the {c} according to a first embodiment.
is a block diagram of a system for {v} {n}.
is a sectional view of the {a} {c} taken along the line shown in the previous figure.
""")
WEB: Final = _parse("""
Have you ever wondered how people make use of {c} when they are {v} {n}?
Students often ask why {n} need a {c}, and the answer is easy to understand.
In everyday life {n} are found in many places, and most of them depend on {c}.
A simple experiment with {x} {n} shows what happens when the {c} is removed.
Teachers can explain {t} with pictures of {n} and a short story about {c}.
The history of {n} begins long before {c} was known to anyone.
Today {f} ideas are changing the way in which schools talk about {n} and {c}.
If you look closely at the {n}, you will see that the {c} is {d} {a}.
It is important to remember that {v} {n} takes time, care and a {a} {c}.
Scientists have learned that {c} and {c} work together to protect the {n}.
Ask your parents whether they have heard about {t} or about {c}.
""")
TITLE_PAPER: Final = _parse("""
{C} and {c} in {a} {n}
On the {q} use of {c} for {v} {n}
{F} {c} for {n}
{C} of {n} under {a} {c}
A {q} model of {c} for {v} {n}
""")
TITLE_PATENT: Final = _parse("""
{C} for {v} {n}
System and method for {v} {n} with {c}
{A} {c} having a {c}
Apparatus for {v} {n} comprising a {c}
{F} {c} and method of {v} {n}
""")
# The sentence that cites: its bracketed mark is added by the writer.
CITING: Final = _parse("""
A {a} account of {c} for {n} was given before
The influence of {c} on {n} was first reported earlier
We follow the treatment of {c} that was proposed for {v} {n}
A {q} comparison of {c} with {c} can be found in the literature
""")

FRENCH: Final = (
    "Nous présentons une étude de la qualité des matériaux utilisés dans les ateliers de la"
    " région. Les résultats montrent que la température joue un rôle important pendant la"
    " préparation, mais que son effet diminue avec le temps. Une méthode simple est proposée"
    " pour mesurer ces variations, et nous discutons de ses limites ainsi que de ses"
    " applications possibles dans l'industrie."
)
GERMAN: Final = (
    "Diese Arbeit untersucht die Eigenschaften von Werkstoffen, die in kleinen Betrieben häufig"
    " verwendet werden. Es wird gezeigt, dass die Temperatur während der Herstellung eine große"
    " Rolle spielt, ihr Einfluss jedoch mit der Zeit abnimmt. Ein einfaches Verfahren zur"
    " Messung dieser Schwankungen wird vorgestellt, und seine Grenzen werden ausführlich"
    " besprochen."
)
PLACEHOLDER: Final = "No abstract available."
