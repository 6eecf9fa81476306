"""What the browser extension asks, on a loopback port of its own (docs/browser.md).

``pairing`` says who may ask, ``listener`` opens and closes the port, ``requests`` is what is asked
and given, ``forms`` and ``memories`` do it, ``app`` puts it together. ``extension/`` is the
extension itself, plain JavaScript; ``packing`` writes its folder for a browser.
"""
