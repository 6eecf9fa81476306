"""``memlane help`` and ``completion``: what there is to type."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from cli.context import Run

COMPLETION_VARIABLE = "_MEMLANE_COMPLETE"
"""Set by the completion scripts: the shell asks what could follow the words typed so far."""


class Shell(StrEnum):
    """The shells with a completion script."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


_INSTALL = {
    Shell.bash: "memlane completion bash > ~/.memlane-completion.bash && "
    "echo 'source ~/.memlane-completion.bash' >> ~/.bashrc",
    Shell.zsh: "memlane completion zsh > ~/.memlane-completion.zsh && "
    "echo 'source ~/.memlane-completion.zsh' >> ~/.zshrc",
    Shell.fish: "mkdir -p ~/.config/fish/completions && "
    "memlane completion fish > ~/.config/fish/completions/memlane.fish",
}
_BEFORE = {Shell.zsh: "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\n"}
"""What a script needs first: zsh knows ``compdef`` only after ``compinit``."""


def help_(
    context: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="A command, such as ask or memories list."),
    ] = None,
) -> None:
    """Show help for memlane or for one command.

    \b
    Examples:
      memlane help
      memlane help ask
      memlane help memories list
    """
    here: Any = context.find_root()
    asked: Any = here.command
    name, above = "memlane", None
    for word in command or ():
        if not hasattr(asked, "resolve_command"):
            here.fail(f"The command {name!r} has no subcommand {word!r}.")
        above = asked.make_context(name, [], parent=above, resilient_parsing=True)
        name, asked, _ = asked.resolve_command(here, [word])
    asked.make_context(name, ["--help"], parent=above)


def completion(
    context: typer.Context,
    shell: Annotated[Shell, typer.Argument(help="Your shell.")],
) -> None:
    """Print the completion script of a shell.

    With it, the Tab key completes commands and options. The second line of the script is the
    command that installs it. It takes effect in new terminals.
    """
    run: Run = context.obj
    from typer._completion_shared import get_completion_script

    body = get_completion_script(
        prog_name="memlane", complete_var=COMPLETION_VARIABLE, shell=shell.value
    )
    first = f"# Completion of memlane for {shell.value}. To install it:\n# {_INSTALL[shell]}\n"
    script = first + _BEFORE.get(shell, "") + body.removeprefix("#compdef memlane").strip() + "\n"
    run.emit(
        {"shell": shell.value, "install": _INSTALL[shell], "script": script},
        lambda out: print(script, end="", file=run.stdout),
    )
