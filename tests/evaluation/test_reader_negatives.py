"""What the statement reader learns of pairs that have nothing to do with each other."""

from agent.ports import RELATIONS
from benchmarks.training.reader.reader_data import read_episodes
from benchmarks.training.reader.reader_negatives import negatives


def test_a_pair_of_different_topics_is_unrelated_and_answers_no_question(embedder):
    episodes = [one for one in read_episodes() if one.voice == "texter"][:12]
    told = {one.topic: " ".join(text for _, text in one.messages) for one in episodes}
    made = negatives(episodes, embedder)
    assert {one.task for one in made} == {"relation", "relevance"}
    for one in made:
        if one.task == "relation":
            assert RELATIONS[one.label] == "unrelated"
        else:
            assert one.label == 0
            own = told[one.topic]
            # The words before the message around them, where they are read in it.
            assert (one.second or "").split(" | ")[0] not in " ".join(own.split())


def test_the_same_seed_makes_the_same_pairs(embedder):
    episodes = [one for one in read_episodes() if one.voice == "texter"][:6]
    assert negatives(episodes, embedder) == negatives(episodes, embedder)
