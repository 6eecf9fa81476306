"""``memlane models``: what is installed, what is used, and more of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.context import Run

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer(help="Language and embedding models.", no_args_is_help=True)


@app.command("list")
def models_list(context: typer.Context) -> None:
    """Show which models are installed.

    The hashes of their files are checked once, and the result is stored.
    """
    run: Run = context.obj
    from agent.models.registry import ModelRegistry
    from agent.models.worker.settings import Findings

    settings = run.config
    with run.status("checking weights"):
        installed = ModelRegistry(settings.models_dir).list()
    used = {settings.llm, settings.reward_model, settings.embedder}
    findings = Findings(settings.models_dir)
    runs_with = {
        model.name: finding
        for model in installed
        if model.path and model.sha256 and model.kind == "llm"
        if (finding := findings.of(model.path, model.sha256, "chat"))
    }

    def show(out: Console) -> None:
        from rich.table import Table

        table = Table(box=None, pad_edge=False)
        for column in ("", "model", "kind", "state", "MB", "where"):
            table.add_column(column, overflow="fold")
        for model in installed:
            table.add_row(
                "*" if model.name in used else "",
                model.name,
                model.kind,
                model.status,
                f"{model.size / 1e6:,.0f}",
                str(model.path or model.source),
            )
        out.print(table, soft_wrap=False)
        for name, finding in runs_with.items():
            out.print(f"{name} runs with {finding}")
        if any(model.status == "missing" for model in installed):
            out.print("Install missing models from the checkout: pip install '.[offline]'")
        if settings.llm_is_server:
            out.print(f"Completion comes from the server {settings.llm}")

    run.emit(
        {
            "models": [
                {
                    "name": model.name,
                    "kind": model.kind,
                    "status": model.status,
                    "path": None if model.path is None else str(model.path),
                    "size": model.size,
                    "sha256": model.sha256,
                    "source": model.source,
                    "in_use": model.name in used,
                    "runs_with": str(runs_with[model.name].rung)
                    if model.name in runs_with
                    else None,
                }
                for model in installed
            ]
        },
        show,
    )


@app.command("use")
def models_use(
    context: typer.Context,
    model: Annotated[
        str, typer.Argument(help="A name of 'models list', a path, or the address of a server.")
    ],
) -> None:
    """Set the model to use.

    A GGUF file becomes the language model, a folder the sentence encoder. The address of a server
    on this machine, such as http://127.0.0.1:8080/v1, replaces the language model.
    """
    run: Run = context.obj
    from agent.config_edit import set_in_file
    from agent.models.registry import ModelRegistry
    from agent.server_address import looks_like_address

    if looks_like_address(model):
        kind, value = "llm", model
    else:
        kind = ModelRegistry(run.config.models_dir).check_usable(model)
        path = Path(model).expanduser()
        value = str(path.absolute()) if path.exists() else model
    file = set_in_file(kind, value)
    run.emit(
        {kind: value, "file": str(file)},
        lambda out: out.print(f"{kind} = {value}  (in {file})"),
    )


@app.command("use-encoder")
def models_use_encoder(
    context: typer.Context,
    folder: Annotated[str, typer.Argument(help="A sentence-transformers folder, or a name.")],
    wait: Annotated[
        bool, typer.Option("--wait", help="Make all vectors now, however long it takes.")
    ] = False,
) -> None:
    """Move to another sentence encoder, such as a multilingual one.

    Every memory gets a vector of it. Up to 2,000 are made at once; more are made by the resident
    process, or here with --wait. Until all are made, the old vectors are used. A move that was
    interrupted goes on where it stopped.
    """
    run: Run = context.obj
    from dataclasses import replace

    from agent.memory.vectors.encoder_move import EncoderMove, aim_at, arrive
    from agent.memory.vectors.waiting import AT_ONCE
    from agent.models.lazy import LocalEmbedder
    from agent.models.registry import ModelRegistry
    from store.errors import InvalidInput

    if ModelRegistry(run.config.models_dir).check_usable(folder) != "embedder":
        raise InvalidInput(f"{folder} is a language model, not a sentence encoder.")
    path = Path(folder).expanduser()
    encoder = str(path.absolute()) if path.exists() else folder
    with run.graph() as graph, run.status("making vectors"):
        move = EncoderMove(graph, LocalEmbedder(replace(run.config, embedder=encoder)))
        left = move.left
        here = wait or left <= AT_ONCE
        aim_at(encoder)
        made = move.run() if here else 0
    if here:
        arrive(encoder)
    said = {"encoder": encoder, "made": made, "waiting": 0 if here else left, "in_use": here}

    def show(out: Console) -> None:
        if here:
            out.print(f"embedder = {encoder}; vectors made: {made}")
            out.print("A resident process that still runs uses the old one: memlane down")
        else:
            out.print(f"{left} memories wait for their vector; the old ones are used meanwhile.")
            out.print(
                "The resident process makes them (memlane up), or: "
                f"memlane models use-encoder {folder} --wait"
            )

    run.emit(said, show)


@app.command("pull")
def models_pull(
    context: typer.Context,
    repository: Annotated[str, typer.Argument(help="OWNER/NAME on the model hub.")],
    file: Annotated[str, typer.Argument(help="The GGUF file in it.")],
) -> None:
    """Download a GGUF file from the model hub.

    The only command that connects to another machine.
    """
    run: Run = context.obj
    from agent.models.registry import ModelRegistry

    registry = ModelRegistry(run.config.models_dir)
    with run.assembling() as progress:
        path = registry.pull(
            repository, file, lambda done, total: progress(f"fetching {file}", done, total)
        )
    run.emit(
        {"path": str(path), "sha256": registry.sha256(path)},
        lambda out: out.print(f"{path}\nUse it with: memlane models use {path}"),
    )


@app.command("check")
def models_check(context: typer.Context) -> None:
    """Test the models on this machine and find the fastest settings that work.

    This happens automatically when a model first runs on a processor or a build of llama.cpp. Run
    it after a crash or a system update.
    """
    run: Run = context.obj
    from agent.models.lazy import LocalLanguageModel, LocalRewardModel

    settings = run.config
    found = {}
    with run.assembling() as progress:
        llm = LocalLanguageModel(settings, progress)
        rewards = LocalRewardModel(settings, progress, cached=False)
        for role, model in (("language model", llm), ("reward model", rewards)):
            with run.status(f"trying the {role}"):
                found[role] = model.check()
            model.free()

    def show(out: Console) -> None:
        for role, finding in found.items():
            if finding is None:
                out.print(f"{role}: a server with its own settings")
                continue
            out.print(f"{role}: {finding.model}")
            out.print(f"  runs with {finding.rung}; found in {finding.seconds} s")
            for why in finding.why:
                out.print(f"  not with {why}")

    run.emit(
        {
            role.replace(" ", "_"): None
            if finding is None
            else {
                "model": finding.model,
                "repack": finding.rung.repack,
                "flash": finding.rung.flash,
                "threads": finding.rung.threads,
                "why": list(finding.why),
                "seconds": finding.seconds,
            }
            for role, finding in found.items()
        },
        show,
    )


@app.command("cache")
def models_cache(
    context: typer.Context,
    clear: Annotated[bool, typer.Option("--clear", help="Clear them.")] = False,
) -> None:
    """Show or clear caches: computed rewards, fixed parts of prompts.

    They contain no text, and the second one nothing that you told. What was cleared is computed
    again when needed.
    """
    run: Run = context.obj
    from agent.models.lazy import open_cache
    from agent.models.prompt_cache import FOLDER, PromptCache
    from agent.models.reward_cache import MEGABYTE

    settings = run.config
    cache = open_cache(settings.home, settings.reward_cache_mb)
    prompts = PromptCache(settings.models_dir / FOLDER)
    removed = (cache.clear(), prompts.clear()) if clear else None
    (hits, misses), count, size = cache.totals(), cache.count(), cache.size()
    fixed_parts: dict[str, Any] = {
        "path": str(prompts.folder),
        "entries": prompts.count(),
        "size": prompts.size(),
        "limit": prompts.limit,
    }
    document: dict[str, Any] = {
        "path": str(cache.path),
        "entries": count,
        "size": size,
        "limit": settings.reward_cache_mb * MEGABYTE,
        "hits": hits,
        "misses": misses,
        "prompts": fixed_parts,
    }
    if removed:
        for where, (entries, freed) in zip((document, fixed_parts), removed, strict=True):
            where["removed"] = {"entries": entries, "size": freed}

    def show(out: Console) -> None:
        for what, limit, where in (
            ("rewards", settings.reward_cache_mb, document),
            ("fixed parts of prompts", prompts.limit // MEGABYTE, fixed_parts),
        ):
            if removed:
                gone = where["removed"]
                out.print(f"Removed {gone['entries']:,} {what}, {gone['size'] / MEGABYTE:.1f} MB.")
            else:
                size = where["size"] / MEGABYTE
                out.print(f"{where['entries']:,} {what}, {size:.1f} of at most {limit} MB")
                if where is document:
                    out.print(f"{hits:,} of {hits + misses:,} lookups found a reward")
            out.print(str(where["path"]))

    run.emit(document, show)
