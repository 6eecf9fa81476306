"""Real models behind the protocols of ``agent.ports``: the only importers of model packages.

``llama`` and ``llama_rewards`` run GGUF models over ``gguf``, ``batch_engine``, ``decode_tasks``,
``prefix_tree``, ``logits`` and ``sampling``, ``llama_prefixes`` keeps what they read of fixed parts
of prompts; ``openai_client`` asks a model server, ``embeddings`` is the sentence encoder, ``ocr``
the text reader. Imported late, so that ``--help`` stays fast.
May import: ``agent.models``, ``agent.ports``, ``agent.errors`` and the libraries themselves.
"""

import os

# Before any of the libraries is imported: none asks a hub for news or reports its use. What is to
# be downloaded, `memlane models pull` fetches itself. Set here, as they take it no other way.
os.environ |= {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}
