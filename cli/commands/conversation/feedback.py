"""``memlane feedback``: judgements of answers, with a training step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.errors import ModelError
from cli.context import Run
from store.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from agent.learning.feedback import Judged, LearningStep
    from agent.session.session import Session


def feedback(
    context: typer.Context,
    judgement: Annotated[str, typer.Argument(help="good, bad, or answer.")],
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="With answer: the correct answer.")
    ] = None,
    turn: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The turn, such as t12. Default: the last turn."),
    ] = None,
    later: Annotated[
        bool,
        typer.Option("--later", help="Only store it. The next 'memlane train' learns from it."),
    ] = False,
) -> None:
    """Say whether an answer was right.

    Your feedback becomes a training example for choosing memories. One small training step runs at
    once; 'memlane train --rollback' undoes it.
    """
    run: Run = context.obj
    from store.tables.side_tables.training_data import AnswerJudgement

    known = [kind.value for kind in AnswerJudgement]
    if judgement not in known:
        raise InvalidInput(f"{judgement!r} is not a judgement. Use one of: {', '.join(known)}.")
    if (text is None) == (judgement == AnswerJudgement.ANSWER):
        raise InvalidInput(
            'Only answer takes a text, and it needs one: memlane feedback answer "Dr. Osei"'
        )
    with run.session() as session:
        from agent.learning.feedback import judge

        judged = judge(session, AnswerJudgement(judgement), turn=turn, text=text)
        step, missing = (None, None) if later or not judged.learnable else _learn(session)
    document = shape(judged, step)
    if missing:
        document["waits"] = missing

    def show(out: Console) -> None:
        out.print(said(judged))
        if step is not None:
            what = (
                f"as weights {step.number}"
                if step.kept
                else "but they did not help, so they were not kept"
            )
            out.print(f"Trained one step on {step.episodes} answers, {what}.")
        elif missing:
            out.print(f"The next 'memlane train' will use it: {missing}")

    run.emit(document, show)


def _learn(session: Session) -> tuple[LearningStep | None, str | None]:
    """A step of learning, or why it has to wait."""
    from agent.learning.feedback import learn
    from agent.learning.train_home import trainable

    policy = session.config.policy
    if policy not in trainable():
        return None, f"the policy in use, {policy}, cannot be trained"
    try:
        return learn(session, policy), None
    except ModelError as error:
        return None, str(error)


def said(judged: Judged) -> str:
    """What was judged and kept, for people."""
    turn, what = judged.turn, judged.judgement.value
    noted = f'Noted for {turn.id}, "{turn.text}": {what}'
    if not judged.learnable:
        return f"{noted}. Nothing is learned from it: {judged.not_learned}."
    rests = f", based on {', '.join(judged.memories)}" if judged.memories else ""
    return f"{noted}{rests}."


def shape(judged: Judged, step: LearningStep | None = None) -> dict[str, Any]:
    """The JSON object of a judgement."""
    return {
        "turn": judged.turn.id,
        "question": judged.turn.text,
        "judgement": judged.judgement.value,
        "memories": list(judged.memories),
        "learnable": judged.learnable,
        "not_learned": judged.not_learned or None,
        "step": None
        if step is None
        else {
            "policy": step.policy,
            "episodes": step.episodes,
            "before": round(step.verdict.before, 4),
            "after": round(step.verdict.after, 4),
            "kept": step.kept,
            "number": step.number,
        },
    }
