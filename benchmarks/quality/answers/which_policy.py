"""Which way of choosing memories is for whom: every policy of memlane on the very same questions.

``python -m benchmarks.which_policy --data DIR [--quick]``. ``--questions`` a seed of each of three
kinds: *locomo*, a long conversation; *lives*, what a person told and changed over weeks (simulated,
test bank); *prefeval+nq*, wishes of which one bears on a request, and general questions for which
nothing should be chosen. The columns:

- *f1*, *recall*: of the evidence, over the questions that need some;
- *silent*: share of the other questions for which nothing was chosen (of the policy alone: in the
  product ``policies.abstain`` judges that, whatever the policy);
- *gain*: what the choice does to the log-likelihood of the reference answer under the 135M model,
  in nats a token over no memories, where there is a reference and the prompt fits;
- *memories*, *tokens*: chosen, and what they add to the prompt;
- *ms*: median of a selection, the question's embedding aside; where a language model is asked, of
  the first.

The last columns say in words what a policy needs and for whom it is.
"""

from __future__ import annotations

import statistics
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from agent.answering.selection import policy_factory
from agent.answering.selection.utility import sampled
from agent.config import DEFAULT_POLICY, load_config
from agent.learning.rewards import LikelihoodValue, choices_of
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.session.session import Session, open_session
from benchmarks.papers.rums.rums_data import cases, drawn, factual, prefeval
from benchmarks.papers.rums.rums_models import SMALL, open_rewards
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_data import load
from benchmarks.shared.questions.qa_judge import MOST_TOKENS, Figures
from benchmarks.shared.questions.qa_metrics import evidence, over_seeds
from benchmarks.shared.questions.qa_models import TokenCount
from benchmarks.shared.questions.qa_views import lived, names_of, plain, sample, tokens_of
from benchmarks.shared.simulated_lives.lives import BANKS
from policies.base import Episode, Policy
from policies.registry import POLICIES, Tools, make_policy

K = 5
LIVES = 3
NUMBERS = ("f1", "recall", "silent", "gain", "memories", "tokens", "ms")
ASKS_A_MODEL = ("picked", "rums-direct")


@dataclass(frozen=True, slots=True)
class Advice:
    """In words, what no figure says."""

    needs: str
    whom: str


OWN = "ships trained; `memlane train` on one's own pairs"
ADVICE: Mapping[str, Advice] = {
    "top-k": Advice("nothing", "a fixed number of the most similar; what nothing was trained for"),
    "bm25": Advice("nothing", "names, codes and numbers asked for word by word; any language"),
    "rrf": Advice("nothing", "a baseline: ranks of the two above"),
    "fused-plain": Advice("nothing", "a baseline: scores of the two, and of what was told around"),
    "fused": Advice("nothing", "long conversations, where a full prompt is no matter"),
    "recency": Advice("nothing", "a baseline"),
    "random": Advice("nothing", "a baseline"),
    "partitioned": Advice("nothing", "M-RAG's Agent-S, for comparison"),
    "decomposed": Advice("nothing; a language model if allowed", "Keqing, for comparison"),
    "walk": Advice(OWN, "memories with relations, questions over several of them; few tokens"),
    "scout": Advice(OWN, "the default: the fewest memories for what is found"),
    "purple": Advice(OWN, "a fixed number of memories in the order that serves the model"),
    "rums-binary": Advice(OWN, "wishes beside general questions: knows when to keep silent"),
    "rums-multi": Advice(OWN, "the paper's second selector, for comparison"),
    "rums-direct": Advice("the reward model at every question", "finding out what a memory does"),
    "all": Advice("nothing", "a home of a few dozen memories"),
    "picked": Advice("the language model at every question", "who can wait for seconds"),
    "oracle": Advice("the key of a data set", "the upper bound"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """What one policy chose for one question."""

    episode: Episode
    ids: tuple[str, ...]
    ms: float
    gain: float | None

    @property
    def needed(self) -> frozenset[str]:
        return self.episode.required or frozenset()


def main() -> None:
    options = parser("which_policy", __doc__ or "")
    options.add_argument("--questions", type=int, default=8, help="of a kind and seed")
    given = options.parse_args()
    if given.quick:
        given.seeds, given.questions = 1, 2
    names = [n for n in POLICIES if not (given.quick and n in ASKS_A_MODEL)]
    runs: list[Figures] = []
    with ExitStack() as stack:
        config = load_config()
        models = stack.enter_context(open_session(config))
        rewards = None if given.quick else stack.enter_context(open_rewards(SMALL))
        count = TokenCount(config)
        for seed in range(given.seeds):
            figures: Figures = {}
            rows: dict[str, list[Row]] = {name: [] for name in names}
            for kind, asked, answers in questions(given, seed, models):
                found = chosen(names, asked, answers, models, rewards, count)
                for name, own in found.items():
                    figures |= {f"{kind}.{name}.{c}": v for c, v in scored(own, count).items()}
                    rows[name] += own
                progress(f"seed {seed}, {kind}: {len(asked)} questions")
            figures |= over_all(rows, count)
            runs.append(figures)
    words = {name: {"needs": a.needs, "for whom": a.whom} for name, a in ADVICE.items()}
    told = {
        "quick": given.quick, "questions": given.questions, "k": K, "default": DEFAULT_POLICY,
        "llm": config.llm, "reward_llm": SMALL, "embedder": config.embedder,
        "tables": {"Which policy for whom": [c for n in NUMBERS for c in (n, f"{n}_sd")]},
        "words": {"all three": words},
    }  # fmt: skip
    figures = over_seeds(runs)
    ordered = {k: figures[k] for k in sorted(figures, key=lambda key: not key.startswith("all "))}
    write_results("which_policy", told, list(range(given.seeds)), ordered)
    for key, value in ordered.items():
        if key.startswith("all ") and value is not None and not key.endswith("_sd"):
            print(f"{key:40} {value:.3f}")


def questions(
    given: Namespace, seed: int, models: Session
) -> Iterator[tuple[str, list[Episode], dict[str, str]]]:
    """Each kind's name, its questions, and the reference answers of those that have one."""
    data, count = given.data, given.questions
    talks, lives = load("locomo", data), 1 if given.quick else LIVES
    sets = (
        ("locomo", lambda: plain([talks[seed % len(talks)]], models)),
        ("lives", lambda: lived(BANKS["test"], range(lives * seed, lives * (seed + 1)), models)),
    )
    for name, put in sets:
        puts = put()
        some = sample([put for put in puts if put.required is not None], count, seed)
        answers = {p.episode.key: p.item.answers[0] for p in some if any(p.item.answers)}
        yield name, [put.episode for put in some], answers
    own = prefeval(data, seed)
    pool = list(dict.fromkeys(text for told in own for text in told.memories))
    told = [*drawn(own, count // 2, seed), *drawn(factual(data, pool, seed), count // 2, seed)]
    yield "prefeval+nq", [case.episode for case in cases(told, models)], {}


def chosen(
    names: Sequence[str],
    asked: Sequence[Episode],
    answers: Mapping[str, str],
    models: Session,
    rewards: LlamaRewards | None,
    count: TokenCount,
) -> dict[str, list[Row]]:
    """Every policy on every question; the choices for one question are valued together."""
    gold = {id(episode.question): episode.required or frozenset() for episode in asked}
    tools = Tools(
        k=K,
        names=names_of(models),
        tokens=tokens_of(models),
        gold=lambda question: gold[id(question)],
        entropies=None if rewards is None else sampled(rewards),
        pick=lambda question, texts: policy_factory.pick(question, texts, models.llm),
    )
    policies = {name: make_policy(name, tools) for name in names}
    value = None if rewards is None else LikelihoodValue(rewards, answers, price=0.0)
    found: dict[str, list[Row]] = {name: [] for name in names}
    for episode in asked:
        own = [timed(policy, episode, name) for name, policy in policies.items()]
        if value is not None and episode.key in answers:
            short = {row.ids for row in own if tokens_in(row, count) <= MOST_TOKENS}
            sets = sorted(short)
            gains = dict(zip(sets, value(episode, sets), strict=True))
            own = [replace(row, gain=gains.get(row.ids)) for row in own]
        for name, row in zip(names, own, strict=True):
            found[name].append(row)
    return found


def timed(policy: Policy, episode: Episode, name: str) -> Row:
    """A choice and its time."""
    if name not in ASKS_A_MODEL:
        policy.select(episode.question, episode.view)  # views keep what they derive
    began = time.perf_counter()
    selection = policy.select(episode.question, episode.view)
    ms = 1000 * (time.perf_counter() - began)
    return Row(episode, tuple(choice.memory.id for choice in selection.chosen), ms, None)


def tokens_in(row: Row, count: TokenCount) -> int:
    return sum(count(choice.memory.text) for choice in choices_of(row.episode, row.ids))


def over_all(rows: Mapping[str, Sequence[Row]], count: TokenCount) -> Figures:
    """Every policy over all kinds; no gain where a choice was too long to be valued.

    A mean over the kinds that fit would be compared with the others' mean over all of them.
    """
    valued = {name: sum(row.gain is not None for row in own) for name, own in rows.items()}
    figures: Figures = {}
    for name, own in rows.items():
        found = scored(own, count)
        if valued[name] < max(valued.values()):
            found["gain"] = None
        figures |= {f"all three.{name}.{c}": v for c, v in found.items()}
    return figures


def scored(rows: Sequence[Row], count: TokenCount) -> Figures:
    """Means over the questions."""
    needy = [evidence(row.ids, row.needed) for row in rows if row.needed]
    others = [not row.ids for row in rows if not row.needed]
    gains = [row.gain for row in rows if row.gain is not None]
    return {
        "f1": statistics.fmean(e.f1 for e in needy) if needy else None,
        "recall": statistics.fmean(e.recall for e in needy) if needy else None,
        "silent": statistics.fmean(others) if others else None,
        "gain": statistics.fmean(gains) if gains else None,
        "memories": statistics.fmean(len(row.ids) for row in rows),
        "tokens": statistics.fmean(tokens_in(row, count) for row in rows),
        "ms": statistics.median(row.ms for row in rows),
        "n": len(rows),
    }


if __name__ == "__main__":
    main()
