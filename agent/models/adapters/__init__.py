"""Real models behind the protocols of ``agent.ports``: the only importers of model packages.

``llama`` and ``llama_rewards`` run GGUF models over ``gguf``, ``batch_engine``, ``decode_tasks``,
``prefix_tree``, ``logits`` and ``sampling``; ``openai_client`` asks a model server, ``embeddings``
is the sentence encoder, ``ocr`` the text reader. Imported late, so that ``--help`` stays fast.
May import: ``agent.models``, ``agent.ports``, ``agent.errors`` and the libraries themselves.
"""
