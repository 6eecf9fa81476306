"""Lives of our own making that the reward benchmarks read: memories, questions, references."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """A question, what its answer should say, and the memories it is asked against."""

    question: str
    reference: str
    memories: tuple[str, ...]


_MEMORIES = (
    "I have been vegetarian since I was nineteen years old.",
    "My sister Mia lives in Porto and runs a small bakery there.",
    "I am allergic to walnuts and carry an injector with me.",
    "My flight SQ318 to London leaves on 2024-06-12 at 23:45.",
    "I prefer window seats, and never take the last row.",
    "My boss is Mr Tan, and he drinks only green tea.",
    "I rent a two-room flat on the third floor in Bedok.",
    "I take the night bus home because I dislike taxis.",
    "My dentist is Dr Adeyemi, in the clinic beside the station.",
    "I am learning Portuguese with a teacher on Tuesday evenings.",
    "I run ten kilometres along the canal on Saturday mornings.",
    "My laptop is an old ThinkPad with a broken E key.",
    "I promised Olaf to return his ladder before the end of May.",
    "I spend at most forty euros on a dinner for two.",
    "My cat Pixel eats only dry food and hates the carrier.",
    "I read crime novels in the train, mostly by Nordic writers.",
    "I booked the Hotel Aurora in Tromsø for three nights in March.",
    "My grandfather grew pears, and I still make his pear cake.",
    "I cannot stand loud restaurants with music and television.",
    "I am saving for a cargo bicycle that can carry two children.",
)

CASES = (
    Case(
        "Which restaurant should I book for the dinner with my boss on Friday?",
        "Book a quiet vegetarian restaurant under forty euros that serves green tea to Mr Tan.",
        _MEMORIES,
    ),
    Case(
        "What could I bring back for my sister from my trip to London?",
        "Bring Mia something for her bakery in Porto, such as English baking tins or tea.",
        _MEMORIES,
    ),
    Case(
        "Can you suggest something to do on a free Saturday in spring?",
        "After your run along the canal, bake your grandfather's pear cake or read a crime novel.",
        _MEMORIES,
    ),
    Case(
        "What should I pack for the nights in Tromsø?",
        "Pack warm clothes, a crime novel for the journey, and your injector against walnuts.",
        _MEMORIES,
    ),
    Case(
        "How do I get home after the late concert next week?",
        "Take the night bus to Bedok, since you dislike taxis.",
        _MEMORIES,
    ),
)
