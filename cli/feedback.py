"""memlane feedback: say of an answer whether it was right; the policy learns from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.run import Run

if TYPE_CHECKING:
    from rich.console import Console

    from agent.learning.feedback import Judged, Step
    from agent.session.session import Session


def feedback(
    context: typer.Context,
    judgement: Annotated[str, typer.Argument(help="good, bad, or answer.")],
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="With answer: the right one.")
    ] = None,
    turn: Annotated[
        str | None, typer.Option(metavar="ID", help="The turn, such as t12; the last if not given.")
    ] = None,
    later: Annotated[
        bool, typer.Option("--later", help="Only keep it; the next 'memlane train' learns from it.")
    ] = False,
) -> None:
    """Judge an answer.

    What you say becomes practice for choosing memories, and a small step is learned from it at
    once. 'memlane train --rollback' takes the step back.
    """
    run: Run = context.obj
    from store.errors import InvalidInput
    from store.learned import Judgement

    known = [kind.value for kind in Judgement]
    if judgement not in known:
        raise InvalidInput(f"{judgement!r} is no judgement. Say one of: {', '.join(known)}.")
    if (text is None) == (judgement == Judgement.ANSWER):
        raise InvalidInput(
            'A text goes with answer, and with answer alone: memlane feedback answer "Dr. Osei"'
        )
    with run.session() as session:
        from agent.learning.feedback import judge

        judged = judge(session, Judgement(judgement), turn=turn, text=text)
        step, missing = (None, None) if later or not judged.learnable else _learn(run, session)
    document = shape(judged, step)
    if missing:
        document["waits"] = missing

    def show(out: Console) -> None:
        out.print(said(judged), markup=False)
        if step is not None:
            what = f"as weights {step.number}" if step.kept else "but it did not help: not kept"
            out.print(f"Learned a step on {step.episodes} answers, {what}.", markup=False)
        elif missing:
            out.print(f"It is used by the next 'memlane train': {missing}", markup=False)

    run.emit(document, show)


def _learn(run: Run, session: Session) -> tuple[Step | None, str | None]:
    """A step of learning, or why it has to wait."""
    from agent.errors import ModelError
    from agent.learning.feedback import learn
    from agent.learning.train_home import trainable

    policy = session.config.policy
    if policy not in trainable():
        return None, f"the policy in use, {policy}, does not learn by itself"
    try:
        return learn(session, policy), None
    except ModelError as error:
        return None, str(error)


def said(judged: Judged) -> str:
    """One line for people on what was kept."""
    turn = judged.turn.id
    if not judged.learnable:
        return f"Noted for {turn}; nothing is learned from that answer."
    rests = f", which rests on {', '.join(judged.memories)}" if judged.memories else ""
    return f"Noted for {turn}{rests}."


def shape(judged: Judged, step: Step | None = None) -> dict[str, Any]:
    """The JSON object of a judgement."""
    return {
        "turn": judged.turn.id,
        "judgement": judged.judgement.value,
        "memories": list(judged.memories),
        "learnable": judged.learnable,
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
