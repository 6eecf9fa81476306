"""The local language model as a yardstick of the services, on few lives; see ``services``.

It answers from the K memories nearest to a question, never edited: what comes, one a line, and the
address of a destination, which counts when it stands among other words too. At the end of the
second and the fourth week of one life of each bank: an answer takes seconds.
"""

from __future__ import annotations

from benchmarks.quality.uses.services import measure
from benchmarks.shared.common import parser


def main() -> None:
    options = parser("services_llm", __doc__ or "")
    options.add_argument("--lives", type=int, default=1, help="lives of each bank")
    given = options.parse_args()
    banks = ["train"] if given.quick else ["train", "test"]
    measure("services_llm", banks, given.lives, quick=given.quick, llm=True, show=False)


if __name__ == "__main__":
    main()
