"""What an entropy or a likelihood costs: the engine against plain llama-cpp-python."""
