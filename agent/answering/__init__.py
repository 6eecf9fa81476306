"""Question -> time and entities asked for -> memories -> answer with its evidence.

``routing`` decides what a message is; ``references`` resolves it in its conversation;
``question_time``, ``time_filter``, ``slot_lookup`` and ``entity_expansion`` read the question;
``retrieve`` runs the policy that ``selection`` makes; ``answer`` asks the model, ``times`` computes
what is a time, ``grounding`` checks it, ``trace`` keeps why.
May import: ``memory``, ``extraction``, ``models`` and below.
"""
