"""``memlane rate`` and ``predict``: ratings and predicted ratings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.context import Run
from cli.output import json_output
from store.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from agent.applications.ratings.predict import Prediction
    from agent.applications.ratings.rate import Rating
    from agent.extraction.ratings.items import Item, Rated

Name = Annotated[str, typer.Argument(metavar="ITEM", help="A film, book, dish, place ...")]
Kind = Annotated[
    str | None, typer.Option(metavar="KIND", help="What it is: film, book, dish, place ...")
]
Genres = Annotated[str | None, typer.Option(metavar="A,B", help="Its genres, separated by commas.")]


def rate(
    context: typer.Context,
    item: Name,
    rating: Annotated[str, typer.Argument(help="A number from 1 to 5, or with a scale: 7/10.")],
    kind: Kind = None,
    genres: Genres = None,
    reason: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What you think of it.")
    ] = None,
    alias: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Another name of the item; repeatable.")
    ] = None,
) -> None:
    """Store your rating of an item.

    A later rating of the same item, under any of its names, replaces the earlier one. 'I gave Heat
    five stars, loved the pacing' in the chat does the same.
    """
    run: Run = context.obj
    from agent.applications.ratings.rate import rate as rate_item
    from agent.extraction.ratings.items import Rated

    value, scale = _score(rating)
    given = Rated(
        item, kind, _listed(genres), tuple(alias or ()), rating=value, scale=scale, reason=reason
    )
    with run.session() as session:
        done = rate_item(session, given)
    document = {
        **_rated(done.rated),
        "before": None if done.before is None else done.before.score,
        "edits": json_output.edits(done.entries),
    }
    run.emit(document, lambda out: _show_rating(out, done))


def predict(
    context: typer.Context,
    item: Name,
    kind: Kind = None,
    genres: Genres = None,
    no_llm: Annotated[
        bool, typer.Option("--no-llm", help="Use only your ratings, without the language model.")
    ] = False,
) -> None:
    """Predict your rating of an item from your earlier ratings.

    The most similar items you rated are shown as evidence.
    """
    run: Run = context.obj
    from agent.applications.ratings import predict as foretelling
    from agent.extraction.ratings.items import Item

    with run.session() as session:
        prediction = foretelling.predict(
            session, Item(item, kind, _listed(genres)), use_llm=not no_llm
        )
    guess, signs = prediction.guess, prediction.signs
    document = {
        **_item(prediction.item),
        "rating": round(prediction.stars, 2),
        "score": prediction.score,
        "whole": prediction.whole,
        "given": None if prediction.given is None else prediction.given.score,
        "model": None
        if guess is None
        else {
            "expected": round(guess.expected, 2),
            "most_likely": guess.most_likely,
            "probabilities": [round(float(p), 4) for p in guess.probabilities],
        },
        "signs": None
        if signs is None
        else {
            name: round(float(getattr(signs, name)), 3)
            for name in ("mean", "genre", "meaning", "recent", "model")
        },
        "ratings": prediction.of,
        "memories": [json_output.choice(choice) for choice in prediction.evidence],
    }
    run.emit(document, lambda out: _show_prediction(out, prediction))


def _score(text: str) -> tuple[float, int]:
    """'4', '4.5' and '7/10'. :raises InvalidInput: if it is no rating."""
    from agent.extraction.ratings.items import STARS

    match = re.fullmatch(r"(-?\d+(?:[.,]\d+)?)(?:\s*(?:/|of|out of)\s*(\d{1,4}))?", text.strip())
    if match is None:
        raise InvalidInput(f"{text!r} is not a rating. Give a number from 1 to 5, or 7/10.")
    return float(match[1].replace(",", ".")), int(match[2] or STARS)


def _listed(genres: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (genres or "").split(",") if part.strip())


def _item(item: Item) -> dict[str, Any]:
    return {
        "item": item.name,
        "kind": item.kind,
        "genres": list(item.genres),
        "aliases": list(item.aliases),
    }


def _rated(rated: Rated) -> dict[str, Any]:
    return {
        **_item(rated),
        "rating": rated.rating,
        "scale": rated.scale,
        "reason": rated.reason,
        "memory": rated.memory,
    }


def _show_rating(out: Console, done: Rating) -> None:
    from cli.output import render

    if not done.entries:
        out.print(f"I knew that already ({done.rated.memory}).")
        return
    was = f" (before: {done.before.score})" if done.before else ""
    out.print(f"{done.rated.name}: {done.rated.score}{was}")
    render.edits(out, done.entries)
    out.print(f"  undo with: memlane memories undo {render.undo_of(done.entries)}")


def _show_prediction(out: Console, prediction: Prediction) -> None:
    if prediction.given is not None:
        out.print(f"You gave {prediction.given.name} {prediction.given.score}.")
    else:
        out.print(f"{prediction.item.name}: {prediction.score}, I guess.")
        if prediction.guess is not None:
            out.print(
                f"  the language model alone, in stars: {prediction.guess.expected:.1f}, "
                f"most likely {prediction.guess.most_likely}"
            )
    for choice in prediction.evidence:
        out.print(f"  {choice.memory.id} {choice.score:.2f} {choice.memory.text}")
