"""Several homes of one person (docs/sync.md): ``memlane sync``.

``run`` is one synchronisation from start to end; ``capture`` turns what was done here into
operations, ``apply`` makes this home what all operations say; ``segments`` and ``keys`` are the
files in the shared folder.
May import: ``memory``, ``io.transfer`` and below.
"""
