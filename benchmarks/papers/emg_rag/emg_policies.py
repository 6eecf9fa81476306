"""Which policy chooses best, and what its answers are worth (EMG-RAG, Table 2).

Every policy of ``policies/registry.py`` gets the same questions, views and vectors of locomo,
memdaily_zh and simulated lives (``qa_views``), and the same language model answers through the
product's own answer step. Selections are judged on all questions; answers, and policies that need
a language model to choose, on ``--answers`` questions a seed and set, drawn by seed.

*right*: of memdaily_zh, that the answering model's probabilities (``choose`` by letter, over every
rotation) favour the right choice; of a simulated life, that the answer names a value that holds and
none that does not; of locomo, that its words are the reference's. Of a question that nobody can
answer, that nothing is said. ``evidence_f1`` is that of the drawn questions, ``services`` that of
reminders. ``autofill`` is the share of form fields that the product fills with the value that
holds; no policy takes part in that.

*Ratios* compare the walks with the best other policy of this run in each figure, the oracle apart:
``over_best`` at the product's K, ``over_any_k`` whatever its K, ``over_fixed`` at the product's K
without those that learn too. Where most questions need a single memory, K = 1 is a baseline that
knows so. ``NAME@needed`` is told by the key how many memories each question needs and is compared
with nobody: it shows how far the ranking alone could go. ``prompt_share`` is of the prompt of top-k
at 20, ``notes_share`` of the memories in it alone: its instructions are some 200 tokens whatever is
chosen. ``oracle_share`` is of the oracle's answers. Figures of answers are means over seeds,
``_sd`` their standard deviation.
A run of some ``--sets`` or ``--policies`` goes to ``emg_policies_NAME`` by ``--part NAME``.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.answering.selection import policy_factory
from agent.config import Config, load_config
from agent.models.lazy import LocalRewardModel
from agent.ports import RewardModel
from agent.session.session import Session, open_session
from benchmarks.shared.common import ROOT, parser, progress, write_results
from benchmarks.shared.questions.qa_data import SETS, load
from benchmarks.shared.questions.qa_judge import (
    ANSWERED,
    SELECTED,
    Figures,
    Selected,
    answer_all,
    judge_answers,
    judge_selections,
    mean,
    select,
)
from benchmarks.shared.questions.qa_metrics import evidence, over_seeds
from benchmarks.shared.questions.qa_models import KeptAnswers, TokenCount
from benchmarks.shared.questions.qa_views import Put, lived, names_of, plain, sample, tokens_of
from benchmarks.shared.simulated_lives.lives import BANKS, K, is_right, product_lines
from benchmarks.shared.simulated_lives.lives_world import write_life
from policies.registry import POLICIES, Tools, make_policy

WALKS = ("walk", "scout")
RANKED = ("top-k", "bm25", "rrf", "fused-plain", "fused")
"""Policies that always take K memories; measured at other K too, so that none wins by its K."""
OTHER_KS = (1, 2, 3, 10, 20)
LONG = "top-k@20"
NEEDED = "@needed"
"""A ranking cut at the number that the key needs: what knowing how many would be worth alone."""
PROMPTED = ("picked", "decomposed")
"""Policies that ask a language model for every question; the second one can do without."""
LEARNED = ("purple", "rums-binary", "rums-multi")
"""memlane's other selectors that learn: no fixed way to choose, and no baseline of EMG-RAG's."""
COMPARED = ("over_best_f1", "over_any_k_f1", "over_fixed_f1", "over_best_token_f1",
            "over_best_right", "over_fixed_token_f1", "over_fixed_right", "prompt_share",
            "notes_share", "oracle_share_token_f1", "oracle_share_right")  # fmt: skip
MEASURED_APART = ("picked", "rums-direct")
"""They ask a model for every question: one below, on few; the other in ``rums_h2``."""
QUICK = {"locomo": 1, "memdaily_zh": 30}
"""Collections of a quick run; of simulated lives it is one of each bank."""
QUICK_QUESTIONS = 60


@dataclass(frozen=True, slots=True)
class Variant:
    """A policy with its K."""

    name: str
    k: int = K
    prompted: bool = False

    @property
    def label(self) -> str:
        by = "+llm" if self.prompted else ""
        return f"{self.name}{by}" if self.k == K else f"{self.name}@{self.k}"

    @property
    def answered(self) -> bool:
        """Whether its answers are measured too, which takes seconds each."""
        return self.k == K or self.label == LONG


def main() -> None:
    options = parser("emg_policies", __doc__ or "")
    options.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    options.add_argument("--policies", nargs="+", choices=list(POLICIES), default=list(POLICIES))
    options.add_argument("--lives", type=int, default=8, help="simulated lives of each bank")
    options.add_argument("--answers", type=int, help="questions a seed and set (5; quick: none)")
    options.add_argument("--part", help="names the results of a run of some sets or policies")
    given = options.parse_args()
    if given.answers is None:
        given.answers = 0 if given.quick else 5
    config = benchmark_config()
    figures: Figures = {}
    with open_session(config) as models:
        run = Run(given, models, TokenCount(config))
        for name in given.sets:
            found = run.measure(name, puts_of(name, given, models))
            figures |= {f"{name}.{key}": value for key, value in found.items()}
    told = {
        "quick": given.quick, "k": K, "lives": given.lives, "answers_a_seed": given.answers,
        "llm": config.llm, "embedder": config.embedder, "sets": given.sets,
        "tables": {
            "Selections": [*SELECTED, "services"],
            "Answers": [each for one in ANSWERED for each in (one, f"{one}_sd")],
            "Against the best other policy": COMPARED,
        },
    }  # fmt: skip
    name = f"emg_policies_{given.part}" if given.part else "emg_policies"
    write_results(name, told, list(range(given.seeds)), figures)
    for key, value in figures.items():
        if key.endswith((".f1", ".token_f1", ".right", *COMPARED)) and value is not None:
            print(f"{key:50} {value:.3f}")


def benchmark_config() -> Config:
    """The person's configuration on a home of the benchmarks' own, which keeps rewards."""
    return replace(load_config(), home=ROOT / "build" / "benchmarks" / "home")


def puts_of(name: str, given: Namespace, models: Session) -> list[Put]:
    """The questions of a set with their views."""
    bank = name.removeprefix("lives_")
    if bank in BANKS:
        puts = list(lived(BANKS[bank], range(lives_of(given)), models))
    else:
        collections = load(name, given.data)
        if given.quick:
            collections = collections[:: max(1, len(collections) // QUICK[name])][: QUICK[name]]
        puts = plain(collections, models)
    if given.quick:
        puts = sample(puts, QUICK_QUESTIONS, 0)
    progress(f"{name}: {len(puts)} questions")
    return puts


def lives_of(given: Namespace) -> int:
    return 1 if given.quick else int(given.lives)


class Run:
    """What is the same for all sets: the models, the policies and the seeds."""

    def __init__(self, given: Namespace, models: Session, tokens: TokenCount) -> None:
        self.given = given
        self.models = models
        self.tokens = tokens
        self.llm = KeptAnswers(models.llm)
        answering = replace(models.config, reward_llm=models.config.llm)
        self.chooser: RewardModel = LocalRewardModel(answering)
        names = given.policies
        self.variants = [Variant(name) for name in names if name not in MEASURED_APART]
        self.variants += [Variant(name, k) for name in RANKED for k in OTHER_KS if name in names]
        if given.answers:
            self.variants += [Variant(name, prompted=True) for name in PROMPTED if name in names]

    def measure(self, name: str, puts: Sequence[Put]) -> Figures:
        """All variants on one set; keys are 'variant.figure'."""
        gold = {put.question: put.required or frozenset() for put in puts}
        drawn = [sample(puts, self.given.answers, seed) for seed in range(self.given.seeds)]
        figures: Figures = {}
        for variant in self.variants:
            tools = Tools(
                k=variant.k,
                names=names_of(self.models),
                tokens=tokens_of(self.models),
                gold=gold.__getitem__,
            )
            if variant.prompted:
                tools = replace(tools, pick=self.pick, split=self.split)
            policy = make_policy(variant.name, tools)
            few = list({put.item.key: put for some in drawn for put in some}.values())
            rows = select(policy, few, twice=False) if variant.prompted else select(policy, puts)
            found = judge_selections(rows, self.tokens)
            found["services"] = evidence_f1(
                [row for row in rows if row.put.item.kind == "reminder"]
            )
            progress(f"{name} {variant.label}: evidence F1 {found['f1'] or 0:.3f}")
            if variant.answered and self.given.answers:
                chosen = {row.put.item.key: row for row in rows}
                found |= self.answers([[chosen[p.item.key] for p in some] for some in drawn])
                progress(f"{name} {variant.label}: {self.llm.asked} prompts so far, "
                         f"{self.llm.found} of them answered before")  # fmt: skip
            figures |= {f"{variant.label}.{key}": value for key, value in found.items()}
        for ranked in (name for name in RANKED if name in self.given.policies):
            found = judge_selections(self.at_needed(ranked, puts), self.tokens)
            figures |= {f"{ranked}{NEEDED}.{key}": value for key, value in found.items()}
        figures |= compared(figures)
        bank = name.removeprefix("lives_")
        if bank in BANKS:
            figures["product.autofill"] = self.autofill(bank)
        return figures

    def at_needed(self, name: str, puts: Sequence[Put]) -> list[Selected]:
        """A ranking's first memories, for each question as many as its key holds."""
        groups: dict[int, list[Put]] = {}
        for put in puts:
            groups.setdefault(len(put.required or ()), []).append(put)
        return [
            row
            for k, group in groups.items()
            for row in (select(make_policy(name, Tools(k=k)), group) if k else ())
        ]

    def pick(self, question: str, texts: Sequence[str]) -> list[int]:
        return policy_factory.pick(question, texts, self.llm)

    def split(self, question: str) -> list[str]:
        return policy_factory.split(question, self.llm)

    def answers(self, drawn: Sequence[Sequence[Selected]]) -> Figures:
        """Mean and standard deviation over the seeds' draws."""
        return over_seeds([self.answered(rows) for rows in drawn])

    def answered(self, rows: Sequence[Selected]) -> Figures:
        """What the answers from these selections are worth."""
        found = judge_answers(answer_all(rows, self.llm, self.chooser, self.tokens))
        return found | {"evidence_f1": evidence_f1(rows)}

    def autofill(self, bank: str) -> float | None:
        """Of the fields of all weeks whose value is known, those that hold it."""
        right = []
        for seed in range(lives_of(self.given)):
            life = write_life(BANKS[bank], seed)
            life.asked = [asked for asked in life.asked if asked.kind == "form"]
            right += [is_right(asked, lines) for asked, lines in product_lines(life, self.models)]
        return mean(right)


def evidence_f1(rows: Sequence[Selected]) -> float | None:
    """Over the questions that need some evidence."""
    return mean([evidence(row.ids, row.put.required).f1 for row in rows if row.put.required])


def compared(figures: Mapping[str, float | int | None]) -> Figures:
    """Ratios of each walk to the best other policy, and to the oracle."""

    def of(label: str, figure: str) -> float | None:
        return figures.get(f"{label}.{figure}")

    def best(among: Iterable[str], figure: str) -> float | None:
        known = [value for other in among if (value := of(other, figure)) is not None]
        return max(known, default=None)

    def over(ours: float | None, theirs: float | None) -> float | None:
        return None if ours is None or not theirs else ours / theirs

    labels = {key.rpartition(".")[0] for key in figures}
    others = {label for label in labels if not label.endswith(NEEDED)} - {*WALKS, "oracle"}
    # Those that ask a language model chose for a few questions: only answers to these compare.
    on_all = {label for label in others if not label.endswith("+llm")}
    at_k = {label for label in others if "@" not in label}
    found: Figures = {}
    for walk in labels & {*WALKS}:
        for figure in ("f1", "token_f1", "right"):
            among = at_k & on_all if figure == "f1" else at_k
            found[f"{walk}.over_best_{figure}"] = over(of(walk, figure), best(among, figure))
            fixed = among - {*LEARNED}
            found[f"{walk}.over_fixed_{figure}"] = over(of(walk, figure), best(fixed, figure))
        found[f"{walk}.over_any_k_f1"] = over(of(walk, "f1"), best(on_all, "f1"))
        for figure in ("token_f1", "right"):
            share = over(of(walk, figure), of("oracle", figure))
            found[f"{walk}.oracle_share_{figure}"] = share
        for part in ("prompt", "notes"):
            tokens = over(of(walk, f"{part}_tokens"), of(LONG, f"{part}_tokens"))
            found[f"{walk}.{part}_share"] = tokens
    return {key: value for key, value in found.items() if value is not None}


if __name__ == "__main__":
    main()
