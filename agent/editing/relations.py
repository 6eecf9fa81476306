"""Relations of which several values may stand side by side; the rest is ``agent.triples``."""

MANY_VALUED = frozenset(
    """likes dislikes loves prefers has owns knows visits bought booked watched read plays eats
    drinks meets includes wants needs plans decided promised thinks uses speaks allergic_to
    noted is same_as different_from""".split()
)
"""Relations of which several may hold side by side, whatever their subclass."""
