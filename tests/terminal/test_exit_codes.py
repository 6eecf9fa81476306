"""How a command that is told to end does so."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

from cli.exit_codes import error_document
from tests.support.residents import ROOT


def test_sigterm_is_one_line_and_its_own_code():
    code = (
        "import time; from cli.exit_codes import exit_code; "
        "run = lambda: (print('ready', flush=True), time.sleep(60)); "
        "raise SystemExit(exit_code(run, []))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None and child.stdout.readline()
        child.send_signal(signal.SIGTERM)
        _, said = child.communicate(timeout=60)
    assert child.returncode == 143
    assert said == "memlane: terminated (SIGTERM); saved data is safe. Run the command again.\n"


def test_an_error_document_can_be_printed_whatever_an_argument_held():
    document = error_document("No such command 'a\udcff'.", 2)
    assert json.loads(document.encode()) == {"error": "No such command 'a\\udcff'.", "exit_code": 2}
