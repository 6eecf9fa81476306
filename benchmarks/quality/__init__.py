"""How good memlane is at each of its tasks; ``gate`` is what ``.ci/run`` runs."""
