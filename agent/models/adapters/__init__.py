"""Real models behind the protocols of ``agent.ports``: the only importers of model packages.

``llama`` runs GGUF models, ``bert`` the sentence encoder and the statement reader,
``openai_client`` asks a model server, ``ocr`` is the text reader, ``hub_download`` fetches weights,
``torch_gradients`` are for training. Imported late, so that ``--help`` stays fast.
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
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime reports to Microsoft from 1.29 on, on Linux too
}
