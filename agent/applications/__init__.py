"""What memories are used for beside answers: forms, personas, ratings, services.

Each is independent of the others and takes an ``agent.memory.home.Home``.
May import: ``answering``, ``memory`` and below; not ``io``, which stands beside.
"""
