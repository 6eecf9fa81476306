"""The models of this machine: language model, reward model, sentence encoder, text reader (OCR).

``registry`` and ``catalog`` say which weights there are, ``weight_files`` puts them on disk,
``lazy`` loads a model at its first use, ``readers`` read states, ``worker`` runs models in
processes of their own, ``reward_cache`` keeps rewards on disk, ``prompt_cache`` what a model made
of the turns that ``fixed_turns`` notes. ``adapters`` are the only importers of model packages.
May import: ``language``, the files at the root of ``agent``, ``policies``, ``store``.
"""
