"""Relations with several values; see also ``agent.extraction.triples``."""

MANY_VALUED = frozenset(
    """likes dislikes loves prefers has owns knows visits bought booked watched read plays eats
    drinks meets includes wants needs plans decided promised thinks uses speaks allergic_to
    noted is same_as different_from""".split()
)
"""Relations of which several may hold side by side, whatever their subclass; a feature of the pair
judge, so a change here needs ``benchmarks.editing_train``."""
_DOES = frozenset(
    """eat drink own know use read watch wear collect cook make write sing learn take get give buy
    sell lend borrow join hate enjoy miss""".split()
)
"""Verbs that one does with one thing beside another, by their base form."""
_SEVERAL = MANY_VALUED | _DOES


def holds_several(relation: str) -> bool:
    """Whether one may have several of it: likes, pets, and all that one does not do."""
    return relation in _SEVERAL or relation.startswith("not_")
