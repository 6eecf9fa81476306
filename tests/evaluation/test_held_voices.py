"""The episodes of voices that the statement reader does not learn from hold together."""

import pytest

from agent.ports import KINDS, RELATIONS
from benchmarks.quality.answers.changes.changes_data import HELD_VOICES, case_of_episode
from benchmarks.training.reader.reader_data import TOLD, read_episodes, units_of

HELD = list(read_episodes(HELD_VOICES))
LEARNED = list(read_episodes())


def test_no_voice_is_both_learned_from_and_held():
    assert not {one.voice for one in HELD} & {one.voice for one in LEARNED}
    assert len({one.id for one in HELD}) == len(HELD)


@pytest.mark.parametrize("episode", HELD, ids=lambda one: one.id)
def test_what_is_marked_is_in_the_messages(episode):
    moments = [moment for moment, _ in episode.messages]
    assert moments == sorted(moments)
    assert moments[-1] < episode.asked
    for one in episode.statements:
        assert one.span in episode.messages[one.message][1]
        assert one.kind in KINDS
        assert bool(one.memory) == (one.kind in TOLD)
    held = {one.id for row in units_of(episode) for _, found in row for one in found}
    assert held == {one.id for one in episode.statements}


@pytest.mark.parametrize("episode", HELD, ids=lambda one: one.id)
def test_what_is_related_and_what_answers_is_told(episode):
    told = {one.id: one for one in episode.statements if one.memory}
    for (old, new), relation in episode.relations.items():
        assert relation in RELATIONS
        assert told[old].message < told[new].message
    assert episode.evidence
    assert set(episode.evidence) <= set(told)


@pytest.mark.parametrize("episode", HELD, ids=lambda one: one.id)
def test_neither_the_question_nor_a_date_is_an_answer(episode):
    case = case_of_episode(episode)
    assert not case.holds(episode.question)
    for moment in (*(moment for moment, _ in episode.messages), episode.asked):
        assert not case.holds(f"{moment:%A %d %B %Y %H:%M %Y-%m-%d}")
