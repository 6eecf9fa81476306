"""Question -> time and entities asked for -> memories -> answer with its evidence.

``routing`` decides what a message is; ``question`` resolves it in its conversation and reads what
it asks for; ``retrieve`` runs the policy that ``selection`` makes; ``answer`` asks the model,
``notes`` are what it reads, ``grounding`` checks it, ``replies`` are the fixed ones, ``trace``
keeps why.
May import: ``memory``, ``extraction``, ``models`` and below.
"""
