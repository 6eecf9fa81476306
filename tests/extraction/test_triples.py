"""Memory -> triples: shapes, relation names, the model for the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.extraction.triples.read import build_turns, parse_reply, triples_for
from agent.language.relation_names import is_single, lemma, relation_name
from store.types import Triple


def facts(text: str) -> list[tuple[str, str, str]]:
    return [(t.head, t.relation, t.tail) for t in triples_for([text], None)[0]]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("My wife's name is Anna.", ("me", "wife", "Anna")),
        ("Anna is my wife.", ("me", "wife", "Anna")),
        ("My boss is Mr Tan.", ("me", "boss", "Mr Tan")),
        ("Rosa is Tom's cousin.", ("Tom", "cousin", "Rosa")),
        ("My mother's birthday is 8 April 1982.", ("my mother", "birthday", "8 April 1982")),
        ("I live in Jurong West, Singapore.", ("me", "lives_in", "Jurong West, Singapore")),
        ("I love spicy food.", ("me", "likes", "spicy food")),
        ("I can't stand mushrooms.", ("me", "dislikes", "mushrooms")),
        ("I don't eat meat.", ("me", "not_eat", "meat")),
        ("My favourite film is Alien.", ("me", "favourite_film", "Alien")),
        ("I work at Siemens.", ("me", "works_at", "Siemens")),
        ("I am a research scientist.", ("me", "works_as", "research scientist")),
        ("My mobile number is 07700 900456.", ("me", "phone", "07700 900456")),
        ("I booked the EK349 flight.", ("me", "booked", "EK349")),
        (
            "The EK349 flight departs at 01:40 on 2024-05-12.",
            ("EK349", "departs_at", "01:40 on 2024-05-12"),
        ),
        ("My seat on the EK349 flight is 23A.", ("EK349", "seat", "23A")),
        (
            "The Crowne Plaza reservation is for 2024-05-12 to 2024-05-18.",
            ("Crowne Plaza", "reserved_for", "2024-05-12 to 2024-05-18"),
        ),
        (
            "The hotel voucher expires on 14 May 2024.",
            ("hotel voucher", "expires_on", "14 May 2024"),
        ),
        ("我的上司叫赵雅琳。", ("me", "上司", "赵雅琳")),
    ],
)
def test_common_shapes_are_read_without_a_model(text, fact):
    assert facts(text)[0] == fact


def test_a_booking_for_someone_ties_them_to_the_place():
    assert facts("I booked a flight to Amsterdam for my boss.") == [
        ("me", "booked", "flight to Amsterdam"),
        ("my boss", "flight_to", "Amsterdam"),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "The EK349 flight departs at 01:40 on 12 May 2024.",
            "The EK349 departure has been moved to 01:30.",
        ),
        ("Our team meeting is at 2 pm.", "The team meeting was moved to 3 pm."),
        ("I live in Oslo.", "I moved to Bergen last year."),
        ("I have a dentist appointment on Tuesday at 10:00.",
         "My dentist appointment is on Wednesday at 11:00."),
        ("I work for Siemens.", "I work at Bosch."),
        ("My mum's birthday is 8 April.", "My mum's birthday is 9 April."),
        ("My phone number is 0171 555.", "My mobile number is 0172 666."),
    ],
)  # fmt: skip
def test_an_updated_fact_has_the_same_head_and_relation(old, new):
    before, after = facts(old)[0], facts(new)[0]
    assert before[:2] == after[:2]
    assert before[2] != after[2]
    assert is_single(before[1])


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("resides in", "lives_in"),
        ("lives in", "lives_in"),
        ("works for", "works_at"),
        ("e-mail address", "email"),
        ("is fond of", "likes"),
        ("doesn't like", "dislikes"),
        ("Promised to", "promised"),
        ("departs_at", "departs_at"),
        ("", ""),
    ],
)
def test_relations_have_one_name_each(phrase, name):
    assert relation_name(phrase) == name


@pytest.mark.parametrize(
    ("form", "base"),
    [("coming", "come"), ("studies", "study"), ("watched", "watch"), ("stopped", "stop"),
     ("met", "meet"), ("lives", "live"), ("offered", "offer")],
)  # fmt: skip
def test_verbs_have_one_base(form, base):
    assert lemma(form) == base


def test_the_model_is_asked_once_for_what_no_shape_fits(scripted):
    scripted.replies = [
        "1. the depot | orders parts from | Voss\n2. late trains | make nervous | me"
    ]
    found = triples_for(
        ["I like tea.", "The depot orders parts from Voss.", "Late trains make me nervous."],
        scripted,
    )
    assert found[1] == (Triple("depot", "order_part_from", "Voss"),)
    assert found[2][0].tail == "me"
    assert len(scripted.asked) == 1
    assert "I like tea." not in scripted.asked[0][-1].content


def test_invented_ends_are_refused(scripted):
    scripted.replies = ["1. Nadia | waters | the tomatoes"]
    (found,) = triples_for(["Late trains make me nervous."], scripted)
    assert found == (Triple("me", "noted", "Late trains make me nervous"),)


@given(st.text(max_size=200))
def test_any_reply_is_survived(reply):
    assert len(parse_reply(reply, 3)) == 3


@given(st.text(min_size=1, max_size=120))
def test_any_memory_has_at_most_three_triples_of_text_that_stands_in_it(text):
    (found,) = triples_for([text], None)
    assert len(found) <= 3
    assert all(triple.relation for triple in found)


def test_the_prompt_numbers_the_sentences():
    assert build_turns(["A.", "B."])[-1].content == "1. A.\n2. B."


@pytest.mark.llm
def test_the_model_reads_what_shapes_cannot(llm):
    found = triples_for(["The plumber from Voss & Sons comes every Friday morning."], llm)
    assert "lumber" in found[0][0].head


@pytest.mark.parametrize(
    ("text", "head", "employer"),
    [
        ("I joined Stripe.", "me", "Stripe"),
        ("I joined Bolt as a designer.", "me", "Bolt"),
        ("I have joined Bolt as head of design.", "me", "Bolt"),
        ("I joined Kestrel Robotics in March.", "me", "Kestrel Robotics"),
        ("I am joining Zenit on 2024-06-03 as a nurse.", "me", "Zenit"),
        ("I joined the BBC as a producer two years ago.", "me", "BBC"),
        ("We just joined a small start-up called Pellet.", "me", "Pellet"),
        ("My sister joined Bolt last week.", "my sister", "Bolt"),
        ("Hanna joined Bolt as an engineer.", "Hanna", "Bolt"),
    ],
)
def test_joining_a_name_or_as_something_is_working_there(text: str, head: str, employer: str):
    assert facts(text)[0] == (head, "works_at", employer)


@pytest.mark.parametrize(
    "text",
    [
        "I joined a choir.",
        "I joined the gym on Mill Street.",
        "I joined Riverside Choir.",
        "I joined Fit24 gym.",
        "I joined Greenpeace as a volunteer.",
        "I joined the Chess Club as a beginner.",
        "I joined Stonefield FC last week.",
        "I joined Tom on a trip to Rome.",
        "I joined Tom for lunch.",
        "I joined Mr Tan.",
        "I joined my brother at the cinema.",
    ],
)
def test_joining_a_club_or_somebody_is_no_job(text: str):
    """'works_at' has one value at a time: a choir would have ended the job."""
    assert all(relation != "works_at" for _, relation, _ in facts(text))


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("My family doctor is Dr Hale.", ("me", "doctor", "Dr Hale")),
        ("Dr Hale is the doctor I see.", ("me", "doctor", "Dr Hale")),
        ("My current landlord is Mr Wu.", ("me", "landlord", "Mr Wu")),
        ("I switched from Dr Hale to Dr Quinn as my doctor.", ("me", "doctor", "Dr Quinn")),
        ("Telora replaced Netwave as our internet provider.",
         ("me", "internet_provider", "Telora")),
        ("Jenna has been my hairdresser since 2 May.", ("me", "hairdresser", "Jenna")),
        ("My favourite tea has been rooibos since 28 April.", ("me", "favourite_tea", "rooibos")),
        ("My boss will be Dana Hill.", ("me", "boss", "Dana Hill")),
        ("My sister will work as a nurse.", ("my sister", "works_as", "nurse")),
        ("I have been studying law.", ("me", "studies", "law")),
        ("My email address changed to sam@post.example.", ("me", "email", "sam@post.example")),
        ("My parents will move to Tampere.", ("my parents", "lives_in", "Tampere")),
        ("Remember: Yusuf works as a pilot.", ("Yusuf", "works_as", "pilot")),
        ("I bank with Monta.", ("me", "bank", "Monta")),
    ],
)  # fmt: skip
def test_one_fact_has_one_relation_however_it_is_worded(text: str, fact: tuple[str, str, str]):
    assert facts(text)[0] == fact


def test_moving_to_another_team_is_no_move_of_house():
    assert facts("I have moved to the Maps team.")[0][1] != "lives_in"
