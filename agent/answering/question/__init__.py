"""What a question asks for: words that lean on the conversation, time, slot, whom it names.

``references`` puts in what the conversation means, ``question_time`` and ``time_filter`` read the
time asked about, ``slot_lookup`` finds exact values, ``entity_expansion`` other names of the same
person. No policy and no language model.
"""
