"""Language models of GGUF files on llama.cpp.

``language_model`` writes, ``states`` and ``reading_adapter`` read, ``rewards`` scores many prompts
at once. ``prefixes`` keeps what was read of fixed parts of prompts, ``prefix_tree`` finds shared
ones, ``gguf`` and ``bf16_weights`` are the files, ``decoding`` and ``sampling`` choose tokens.
"""
