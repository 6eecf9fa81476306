"""What the other fields of a form say of the words that were copied for one.

A value nearly always belongs into one field. Where several get the same words ("Employer" and
"Former employer"), that one is likeliest right to which their memory is most relevant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace

from agent.applications.forms.candidates.copying import Copy
from agent.applications.forms.matching.label_words import fold

MOST_LEAD = 4.0
"""Difference of two relevances (log-odds) beyond which more says no more."""


def judged_together(
    copies: Mapping[int, Copy], written: Mapping[int, str], filled: Collection[str]
) -> dict[int, Copy]:
    """The copies for the fields of one form, by their places, each judged by the others too.

    ``written`` has them as the fields take them, ``filled`` the values of the form's other fields.
    A copy for which no notes were read stays as it is.
    """
    known = {fold(value) for value in filled}
    signs = {n: copy.signs for n, copy in copies.items() if copy.signs is not None}
    together: defaultdict[str, list[int]] = defaultdict(list)
    for n in signs:
        together[fold(written[n])].append(n)
    judged = dict(copies)
    for words, fields in together.items():
        for n in fields:
            rivals = [signs[other].relevance for other in fields if other != n]
            lead = signs[n].relevance - max(rivals) if rivals else 0.0
            judged[n] = copies[n].with_signs(
                replace(
                    signs[n],
                    lead=min(max(lead, -MOST_LEAD), MOST_LEAD),
                    others=len(rivals),
                    elsewhere=words in known,
                )
            )
    return judged
