"""The shipped sentence encoder and the statement reader on onnxruntime.

``encoder`` makes the graph (``onnx_graph``) from the weights (``safetensors_file``); ``embeddings``
is the port, ``foreign_embeddings`` an encoder of another folder, ``statement_reader`` the heads.
"""
