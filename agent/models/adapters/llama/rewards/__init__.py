"""Rewards of many prompts at once, on one batch of llama.cpp (docs/engine.md).

``reward_model`` is the port; ``batch_engine`` decodes what ``decode_tasks`` plans, ``logits`` are
the arithmetic, ``fingerprint`` says which engine made a number.
"""
