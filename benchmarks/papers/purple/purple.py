"""PURPLE: which ordered set of records serves the model best (paper section 5; docs/purple.md).

``python -m benchmarks.purple --data DIR [--quick]``. Four personal tasks (``purple_tasks``;
choosing the preferred option has two sets), 20 candidates of the fused retriever, 5 chosen, one
frozen model for rewards and answers. Every selector orders the same candidates
(``purple_selectors``).

Each question has one pool of sampled profiles, valued once, that every trained variant learns from
(``purple_learning``). Groups (persons, topics, conversations) are dealt into folds: a variant
learns from the pools of all folds but one and is measured on that one, so every question is
measured and none by weights that saw its group. Figures are means over the folds, ``_sd`` their
spread.

- *quality*: accuracy; of ratings minus the absolute error of the expected rating; of answers the
  mean log-probability a token of the reference. Higher is better everywhere.
- *loglik*: log-probability of the reference, in nats, which is the reward.
- *gap*, beside a baseline: quality of ``purple`` less that baseline's, mean over questions, with
  its standard error (paired).

``purple`` starts at the shipped weights; ``purple (fresh)`` and the ablations start untrained,
``paper's form`` also without the retriever's signs; ``metric reward`` learns from the quality
instead of the likelihood (section 5.2). ``judged`` variants learn from three quarters and keep what
they learned only if it wins on the rest, as ``memlane train`` does. ``reversed`` and ``shuffled``
show what the order of the chosen is worth (section 5.3). ``tasks_won by`` a variant: where it beats
every baseline of the paper. ``questions_per_s`` is selection alone, from the text of a question
with the memories' vectors there: ``purple`` with the candidates' tokens kept and, as ``purple
(cold)``, with none.
Rewards are kept in ``build/benchmarks/purple.db``: an interrupted run goes on.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from agent.config import load_config
from agent.learning.answer_agreement import token_f1
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.models.lazy import LocalEmbedder, LocalLanguageModel, reward_weights
from agent.models.reward_cache import RewardCache
from agent.ports import ChatTurn, RewardModel
from benchmarks.papers.purple.purple_learning import Learners, Lesson, Pool, learners, pool, wins
from benchmarks.papers.purple.purple_outcomes import (
    CHOICE,
    REWARDS,
    Figures,
    Measured,
    Outcome,
    outcome,
    summary,
    verdicts,
)
from benchmarks.papers.purple.purple_selectors import ORDERS, averaged, prompted, switched
from benchmarks.papers.purple.purple_speed import speed
from benchmarks.papers.purple.purple_tasks import TASKS, Case, cases, folds
from benchmarks.quality.answers.recall import remembering
from benchmarks.shared.common import ROOT, parser, progress, write_results
from benchmarks.shared.questions.qa_models import KeptAnswers
from policies.purple.purple import CHOSEN, CandidateList, Purple, TokenVectors
from policies.purple.purple_encoder import Propensities
from policies.scoring.ranking import best
from policies.training.mlp import Floats, Ints

MODEL = "smollm2-135m"
QUESTIONS, PROFILES, EPOCHS = 60, 16, 12
QUICK = (6, 4, 1)
HELD = 4
"""Of so many questions one is held back where a variant is judged."""
TOGETHER = 8
"""Cases whose profiles go to the engine at once."""
SHORT = "Answer from the notes in a few words."


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to train the bandit."""

    shipped: bool = False
    layers: int = 2
    cross: bool = True
    signs: bool = True
    reward: str = "likelihood"
    judged: bool = False
    """Whether every fourth question is held back, and decides if what was learned is kept."""

    def start(self, tokens: TokenVectors, inputs: int) -> Purple:
        if self.shipped:
            return Purple.shipped(tokens)
        fresh = Propensities.fresh(
            inputs, layers=self.layers, cross=self.cross, signs=self.signs, seed=0
        )
        return Purple(fresh, tokens)


VARIANTS: Mapping[str, Variant] = {
    "purple": Variant(shipped=True),
    "purple (fresh)": Variant(),
    "paper's form": Variant(signs=False),
    "without cross-attention": Variant(cross=False),
    "without transformer": Variant(layers=0),
    "metric reward": Variant(reward="metric"),
    "purple (judged)": Variant(judged=True),
    "metric reward (judged)": Variant(reward="metric", judged=True),
    "metric reward (shipped)": Variant(shipped=True, reward="metric"),
    "choice reward": Variant(shipped=True, reward="choice"),
}
MAIN = "purple"
WRITTEN = (MAIN, "purple (fresh)")
"""Trained selectors whose answers are also written out; the orders all are."""


def main() -> None:
    options = parser("purple", __doc__ or "")
    options.set_defaults(seeds=3)
    options.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS))
    options.add_argument("--model", default=MODEL, help="of rewards and answers: name or GGUF path")
    options.add_argument(
        "--questions",
        type=int,
        help=f"of a task ({QUESTIONS}); of the two sets of choosing half of them each",
    )
    options.add_argument("--draw", type=int, default=0, help="seed of which questions are asked")
    options.add_argument(
        "--more", nargs="+", type=int, default=[], metavar="DRAW", help="draws also learned from"
    )
    options.add_argument("--profiles", type=int, help=f"valued for a question ({PROFILES})")
    options.add_argument("--epochs", type=int, help=f"over the pools ({EPOCHS})")
    options.add_argument("--answer-model", help="measures the same selections with another model")
    options.add_argument("--generated", type=int, default=6, help="answers written, a fold")
    options.add_argument("--no-prompted", action="store_true", help="leave prompted ranking out")
    options.add_argument("--part", help="names the results of a run of some tasks")
    given = options.parse_args()
    for name, full, quick in zip(
        ("questions", "profiles", "epochs"), (QUESTIONS, PROFILES, EPOCHS), QUICK, strict=True
    ):
        if getattr(given, name) is None:
            setattr(given, name, quick if given.quick else full)
    if given.quick:
        given.tasks, given.generated, given.no_prompted = given.tasks[:2], 0, True
    figures: Figures = {}
    with learners() as learn:
        bench = Bench(given, learn)
        for task in given.tasks:
            figures |= {f"{task}.{key}": value for key, value in bench.measure(task).items()}
    llm = None if given.no_prompted else LocalLanguageModel(bench.config)
    figures |= speed(bench.seen, bench.embedder, llm)
    figures |= verdicts(figures, given.tasks, list(VARIANTS))
    config = {
        "quick": given.quick, "data": given.data, "model": given.model,
        "answer_model": given.answer_model, "tasks": given.tasks, "questions": given.questions,
        "draw": given.draw, "more": given.more, "profiles": given.profiles, "epochs": given.epochs,
        "folds": given.seeds, "generated": given.generated,
        "tables": {
            "Selectors": ["quality", "quality_sd", "loglik", "loglik_sd", "gap", "gap_se",
                          "token_f1", "token_f1_sd"],
            "Speed": ["questions_per_s", "prompts_per_answer"],
        },
    }  # fmt: skip
    write_results(result_name(given), config, list(range(given.seeds)), figures)
    for key, value in figures.items():
        if key.endswith(("quality", "gap", "questions_per_s")) or key.count(".") < 2:
            print(f"{key:50} {value if value is None else format(value, '.4f')}")


def result_name(given: Namespace) -> str:
    """Another draw or some of the tasks are a result of their own: none replaces the other."""
    name = "purple" if given.answer_model is None else "purple_answers"
    drawn = f"{name}_draw_{given.draw}" if given.draw else name
    if given.more:
        drawn += "_more_" + "_".join(map(str, given.more))
    return f"{drawn}_{given.part}" if given.part else drawn


class Bench:
    """The models, and what was measured so far."""

    def __init__(self, given: Namespace, learn: Learners) -> None:
        self.given = given
        self.learn = learn
        self.config = replace(load_config(), llm=given.model)
        self.embedder = LocalEmbedder(self.config)
        self.encode = remembering(self.embedder)
        self.cache = RewardCache(ROOT / "build" / "benchmarks" / "purple.db")
        self.rewards = self._open(given.model)
        self.answering = self._open(given.answer_model) if given.answer_model else self.rewards
        self.llm = KeptAnswers(LocalLanguageModel(self.config))
        self.orders = dict(ORDERS)
        if not given.no_prompted:
            self.orders["prompted"] = prompted(self.llm)
        self.seen: list[Case] = []

    def _open(self, name: str) -> RewardModel:
        path, sha256 = reward_weights(name, self.config)
        return LlamaRewards(path, identity=f"{path.name}@{sha256}", cache=self.cache)

    # ---- a task ---------------------------------------------------------------------------

    def measure(self, task: str) -> Figures:
        """Every selector on one task."""
        asked, pools, valued = self.prepare(task, self.given.draw)
        self.seen += asked
        more: list[Case] = []
        for draw in self.given.more:
            others, other_pools, other_values = self.prepare(task, draw)
            more += [case for case in others if case.key not in pools]
            pools, valued = other_pools | pools, other_values | valued
        return summary(
            [
                self.fold(learned, measured, pools, valued)
                for learned, measured in folds(asked, self.given.seeds, more)
            ]
        )

    def prepare(
        self, task: str, draw: int
    ) -> tuple[list[Case], dict[str, Pool], dict[str, list[list[Floats]]]]:
        """The questions of a draw, their pools, and what ``values`` says of those."""
        given = self.given
        count = given.questions // 2 if task in CHOICE else given.questions
        asked = cases(task, given.data, count, self.encode, draw)
        progress(f"{task}: {len(asked)} questions of {len({c.group for c in asked})} groups")
        fresh = VARIANTS["purple (fresh)"].start(
            self.embedder.encode_tokens, self.embedder.dimension
        )
        pools = {}
        for number, case in enumerate(asked):
            listed = fresh.listed(case.episode.question, case.episode.view)
            pools[case.key] = pool(listed, fresh.network, CHOSEN, given.profiles, number)
        return asked, pools, self.values(asked, pools)

    def values(
        self, asked: Sequence[Case], pools: Mapping[str, Pool]
    ) -> dict[str, list[list[Floats]]]:
        """Of each profile of each pool the token log-probabilities of every option."""
        valued: dict[str, list[list[Floats]]] = {}
        for begin in range(0, len(asked), TOGETHER):
            part = asked[begin : begin + TOGETHER]
            prompts = [
                (case, case.prompt(ids_of(case, pools[case.key].listed, profile)))
                for case in part
                for profile in pools[case.key].profiles
            ]
            for (case, _), one in zip(prompts, self.score(prompts, self.rewards), strict=True):
                valued.setdefault(case.key, []).append(one)
            progress(f"  pools of {begin + len(part)} of {len(asked)} questions valued")
        return valued

    def score(self, prompts: Sequence[tuple[Case, str]], model: RewardModel) -> list[list[Floats]]:
        """Of each prompt the token log-probabilities of every option of its case."""
        flat = [(prompt, option) for case, prompt in prompts for option in case.options]
        found = iter(model.log_likelihood([p for p, _ in flat], [o for _, o in flat]))
        return [[np.asarray(next(found), np.float64) for _ in case.options] for case, _ in prompts]

    def fold(
        self,
        learned: Sequence[Case],
        measured: Sequence[Case],
        pools: Mapping[str, Pool],
        valued: Mapping[str, list[list[Floats]]],
    ) -> Measured:
        """Outcomes of one fold."""
        listed = {case.key: pools[case.key].listed for case in measured}
        chosen: dict[str, dict[str, list[int]]] = {}
        for name, order in self.orders.items():
            chosen[name] = {c.key: list(order(c, listed[c.key]))[:CHOSEN] for c in measured}
        for name, network in self.learned(learned, pools, valued).items():
            chosen[name] = {c.key: best_places(network, listed[c.key]) for c in measured}
        rng = np.random.default_rng(0)
        chosen["reversed"] = {key: places[::-1] for key, places in chosen[MAIN].items()}
        chosen["shuffled"] = {
            key: rng.permutation(places).tolist() for key, places in chosen[MAIN].items()
        }
        found = {name: self.outcomes(measured, listed, places) for name, places in chosen.items()}
        found["none"] = self.outcomes(measured, listed, {c.key: [] for c in measured})
        found |= self.one_at_a_time(measured, listed, chosen["dense"])
        written = self.written(measured, listed, chosen)
        progress("  fold measured")
        return Measured(found, written)

    def learned(
        self,
        cases: Sequence[Case],
        pools: Mapping[str, Pool],
        valued: Mapping[str, list[list[Floats]]],
    ) -> dict[str, Propensities]:
        """What every variant learns from these questions."""
        lessons, held = {}, {}
        for name, variant in VARIANTS.items():
            own = [pools[case.key] for case in cases]
            rewards = [
                np.array([REWARDS[variant.reward](case, one) for one in valued[case.key]])
                for case in cases
            ]
            start = variant.start(self.embedder.encode_tokens, self.embedder.dimension).network
            if variant.judged:
                held[name] = own[::HELD], rewards[::HELD]
                own = [one for n, one in enumerate(own) if n % HELD]
                rewards = [one for n, one in enumerate(rewards) if n % HELD]
            lessons[name] = Lesson(start, own, rewards, self.given.epochs)
        found = dict(zip(lessons, self.learn(list(lessons.values())), strict=True))
        progress("  variants learned")
        for name, (own, rewards) in held.items():
            if not wins(lessons[name].start, found[name], own, rewards):
                found[name] = lessons[name].start
                progress(f"  {name}: stays as it began")
        return found

    def outcomes(
        self,
        measured: Sequence[Case],
        listed: Mapping[str, CandidateList],
        places: Mapping[str, Sequence[int]],
    ) -> dict[str, Outcome]:
        """What the answers from these records are worth."""
        prompts = [(c, c.prompt(ids_of(c, listed[c.key], places[c.key]))) for c in measured]
        scored = self.score(prompts, self.answering)
        return {c.key: outcome(c, one) for c, one in zip(measured, scored, strict=True)}

    def one_at_a_time(
        self,
        measured: Sequence[Case],
        listed: Mapping[str, CandidateList],
        nearest: Mapping[str, Sequence[int]],
    ) -> dict[str, dict[str, Outcome]]:
        """IC-RALM and REPLUG over the nearest records."""
        prompts = [
            (c, c.prompt(ids_of(c, listed[c.key], [place])))
            for c in measured
            for place in nearest[c.key]
        ]
        scored = iter(self.score(prompts, self.answering))
        found: dict[str, dict[str, Outcome]] = {"ic-ralm": {}, "replug": {}}
        for case in measured:
            alone = [next(scored) for _ in nearest[case.key]]  # by record, then by option
            view, vector = case.episode.view, case.episode.question.vector
            rows = [listed[case.key].rows[place] for place in nearest[case.key]]
            near = np.asarray(view.vectors[rows] @ vector, np.float64)
            by_option = list(zip(*alone, strict=True))
            found["ic-ralm"][case.key] = outcome(case, [switched(own) for own in by_option])
            found["replug"][case.key] = outcome(case, [averaged(own, near) for own in by_option])
        return found

    def written(
        self, measured: Sequence[Case], listed: Mapping[str, CandidateList],
        chosen: Mapping[str, Mapping[str, Sequence[int]]],
    ) -> dict[str, list[float]]:  # fmt: skip
        """Token F1 of answers that the model writes, by selector, for the first few questions."""
        if measured[0].task != "answers":
            return {}
        some = measured[: self.given.generated]
        return {
            name: [self.write(c, ids_of(c, listed[c.key], chosen[name][c.key])) for c in some]
            for name in (*self.orders, *WRITTEN)
        }

    def write(self, case: Case, ids: Sequence[str]) -> float:
        turns = (ChatTurn("system", SHORT), ChatTurn("user", case.prompt(ids)))
        said = self.llm.chat(turns, max_tokens=24, stop=("\n",))
        return token_f1(said, case.options[case.right])


def ids_of(case: Case, listed: CandidateList, places: Sequence[int] | Ints) -> list[str]:
    """The memories of some candidates, in this order."""
    return [case.episode.view.memories[listed.rows[place]].id for place in places]


def best_places(network: Propensities, listed: CandidateList) -> list[int]:
    return [int(place) for place in best(network.scores(listed.records), CHOSEN)]


if __name__ == "__main__":
    main()
