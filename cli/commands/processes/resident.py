"""``memlane up`` and ``down``: the resident process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run
from store.errors import HomeLocked, HomeUnavailable, MemlaneError, StoreBusy

if TYPE_CHECKING:
    from agent.config import Config
    from agent.server.resident.client import Client, Running

START_S = 30.0
"""How long a new process may take to answer."""
END_S = 10.0
_STEP_S = 0.05


def up(
    context: typer.Context,
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Stay in this terminal; Ctrl-C stops it.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Also listen on this local port (0: any free port). Clients need the token of "
            "the home.",
        ),
    ] = None,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", hidden=True, help="End when nobody needs it.")
    ] = False,
    key_on_stdin: Annotated[
        bool, typer.Option("--key-on-stdin", hidden=True, help="Read the key of the home.")
    ] = False,
    install: Annotated[
        bool,
        typer.Option("--install", help="Only write the file that starts it at login."),
    ] = False,
) -> None:
    """Keep the models loaded in the background.

    Starts the resident process: commands answer at once, and unused models are unloaded. Commands
    find it automatically and also work without it.
    """
    run: Run = context.obj
    if install:
        run.only_main("up --install")
        _install(run, port)
    elif foreground:
        if key_on_stdin:
            import sys

            from store.database.encryption.keys import hold

            hold(bytes.fromhex(sys.stdin.readline()))
        _serve(run, port, context.find_root().command, until_idle=until_idle)
    else:
        _detach(run, port)


def down(context: typer.Context) -> None:
    """Stop keeping the models loaded.

    Stops the resident process. An answer in progress stops at the next word. Nothing stored is
    lost.
    """
    run: Run = context.obj
    pid = stop(run.config)
    run.emit(
        {"running": False, "pid": None, "stopped": pid},
        lambda out: out.print(
            "The resident process has stopped." if pid else "It was not running."
        ),
    )


def stop(config: Config) -> int | None:
    """End the resident process of the home; its number, None if there was none.

    :raises StoreBusy: if it does not end.
    """
    import os
    import signal
    import time

    from agent.server.resident.paths import Place, holder

    lock = Place(config.home).lock
    pid = holder(lock)
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + END_S
        while holder(lock) == pid:
            if time.monotonic() > deadline:
                raise StoreBusy(
                    f"The resident process (process {pid}) does not stop. As a last resort: kill "
                    f"-9 {pid}"
                )
            time.sleep(_STEP_S)
    return pid


def _install(run: Run, port: int | None) -> None:
    import os

    from platformdirs import user_config_path

    from agent.server.resident.starting.autostart import unit_for, write
    from store.database.connection import DATABASE_NAME
    from store.database.encryption.envelope import envelope_of

    envelope = envelope_of(run.config.home / DATABASE_NAME)
    if envelope is not None and envelope.passphrase is not None:
        raise HomeLocked(
            f"The home {run.config.home} needs its passphrase, which nobody types at login. Run "
            "memlane unlock instead, or keep the key in the keyring: memlane lock --keyring"
        )
    unit = unit_for(run.resident_command(port), user_config_path(), os.getuid())
    write(unit)
    run.emit(
        {"file": str(unit.path), "start": unit.start, "remove": unit.remove},
        lambda out: out.print(
            f"Wrote {unit.path}. Nothing is started yet.\nTo start it now and at each login: "
            f"{unit.start}\nTo stop that: {unit.remove}"
        ),
    )


def _serve(run: Run, port: int | None, app: object, *, until_idle: bool) -> None:
    from contextlib import suppress

    from typer.core import TyperGroup

    from agent.server.serve import serve
    from cli.forwarding.forwarded import work_out

    def ready(where: str) -> None:
        with suppress(OSError):  # nobody may be reading
            run.err.print(f"memlane is up at {where}")

    assert isinstance(app, TyperGroup)
    command = work_out(run.config, app)
    serve(
        run.config,
        port=port,
        debug=run.debug,
        on_ready=ready,
        command=command,
        until_idle=until_idle,
    )


def _detach(run: Run, port: int | None) -> None:
    found = start(run, port)
    run.emit(
        shape(found),
        lambda out: out.print(
            f"memlane is up (process {found.pid}, {found.socket}"
            + (f", port {found.port})" if found.port else ")")
        ),
    )


def start(run: Run, port: int | None = None) -> Running:
    """Start the process in a session of its own, and wait until it answers.

    It gets the key of an encrypted home through a pipe, which nobody else reads.

    :raises HomeLocked: if the home is encrypted and nobody has its key.
    :raises StoreBusy: if it is up already.
    :raises HomeUnavailable: if it does not come up.
    """
    import subprocess
    import time

    from agent.server.resident.paths import Place, holder
    from store.database.connection import DATABASE_NAME, ensure_home
    from store.database.encryption.keys import key_of

    lock = Place(run.config.home).lock
    if pid := holder(lock):
        raise StoreBusy(
            f"memlane is already running for {run.config.home} (process {pid}). "
            "See it with: memlane status"
        )
    ensure_home(run.config.home)
    key = key_of(run.config.home / DATABASE_NAME)
    words = run.resident_command(port)
    with subprocess.Popen(
        words if key is None else [*words, "--key-on-stdin"],
        stdin=subprocess.DEVNULL if key is None else subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd="/",
        start_new_session=True,
    ) as child:
        if key is not None and child.stdin:
            child.stdin.write(f"{key.hex()}\n".encode())
            child.stdin.close()
        deadline = time.monotonic() + START_S
        while (running := running_of(run.config)) is None or running.pid != child.pid:
            if child.poll() is not None:
                said = (child.stderr.read() if child.stderr else b"").decode("utf-8", "replace")
                reason = (said.strip().splitlines() or ["it exited without a message"])[-1]
                raise HomeUnavailable(reason.removeprefix("memlane: "))
            if time.monotonic() > deadline:
                child.kill()
                raise HomeUnavailable(
                    f"The resident process did not answer in {START_S:.0f} seconds. "
                    f"See {Place(run.config.home).log}"
                )
            time.sleep(_STEP_S)
        child.returncode = 0  # it is meant to outlive this process
    return running


def resident_of(run: Run, command: str) -> Client:
    """The resident process of the home for a command, started where there is none.

    :raises StoreBusy: if there is one that is not like this command.
    """
    from agent.server.resident.client import connect
    from agent.server.resident.paths import Place, holder

    reasons: list[str] = []
    client = connect(run.config, reasons.append)
    if client is None and holder(Place(run.config.home).lock) is None:
        start(run)
        client = connect(run.config, reasons.append)
    if client is None:
        why = reasons[-1].split(": ")[0] if reasons else "the resident process does not answer"
        raise StoreBusy(f"{why}. To change that: memlane down, then {command}")
    return client


def running_of(config: Config) -> Running | None:
    """How the resident process of this home is doing, whatever its settings; None if it is down."""
    from agent.server.resident.client import Client
    from agent.server.resident.paths import Place, is_mine

    path = Place(config.home).socket
    if not is_mine(path):
        return None
    try:
        return Client(config, path).running()
    except (OSError, MemlaneError):
        return None


def shape(running: Running) -> dict[str, object]:
    """The JSON of a running process."""
    return {
        "running": True,
        "pid": running.pid,
        "socket": running.socket,
        "uptime_s": running.uptime_s,
        "queue": running.queue,
        "loaded": list(running.loaded),
        "port": running.port,
        "ends_after_minutes": running.ends_after_minutes,
        "memory_mb": running.memory_mb,
    }
