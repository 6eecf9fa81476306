"""Claims about quality and speed. Each module runs by its name: ``python -m benchmarks.gate``.

- ``papers``: the tables of the five papers, a folder each
- ``quality``: what is read, remembered, answered and done with it, secrets, attacks on a home in
  use; ``gate`` is what CI runs
- ``speed``: seconds and megabytes
- ``training``: makes the weights that memlane ships; measures nothing
- ``shared``: options and result files, questions, simulated lives, the results page

Imports name the folder (``benchmarks.shared.common``); commands and prose name the module alone, as
no two have one name. May import anything; only ``tests`` imports it.
"""

from pathlib import Path

# The deepest folders first, as a folder may be named like a module in it (`purple`).
__path__ += sorted(
    {str(path.parent) for path in Path(__file__).parent.glob("*/**/*.py")},
    key=lambda folder: (-len(Path(folder).parts), folder),
)
