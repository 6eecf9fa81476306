"""The command lines of docs/cli.md with ``--json``, in the order in which they are run.

All are run in one home, ``tests.support.json_home``. A line without ``--json`` only prepares the
next ones, ``< FILE`` is standard input, a comment is for the reader, and a function is what happens
without a command.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.support import json_home as home

Step = str | Callable[[], None]

CONVERSATION: tuple[Step, ...] = (
    "memlane remember 'My neighbour Rosa keeps bees.' --json",
    "memlane ask 'What is my bank?' --json",
    "memlane feedback good --json",
    "memlane config set policy bm25",
    "memlane feedback answer Triodos --json",
    "memlane config unset policy",
    home.something_is_in_doubt,
    "memlane say 'My sister Ana lives in Oslo.' --json",
    "memlane say 'Where does she live?' --json",
    "memlane say 'I bought a kayak yesterday. What is my bank?' --json",
    "memlane ask 'Where does Uncle Leo live?' --no-llm --json",
    "memlane config set persona_share 50",
    "memlane ask 'Do I run regularly?' --no-llm --json",
    "memlane config unset persona_share",
    "memlane ingest letter.eml",
    "memlane ask 'Where is the picnic?' --no-llm",
    "memlane why --json",
    "memlane why --picture why.svg --json",
    "memlane chat --json < chat.txt",
)
MEMORIES: tuple[Step, ...] = (
    "memlane list --json",
    "memlane search chess --json",
    "memlane memories show m35 --json",
    "memlane memories add 'I play the cello.' --json",
    "memlane memories replace m3 'I live in Trondheim.' --json",
    "memlane memories edit --file edited.md --yes --json",
    "memlane memories edit --file later.md --dry-run --json",
    "memlane memories edit m6 --text 'Tom works at the old harbour.' --json",
    "memlane memories pin m5 m6 --json",
    "memlane memories unpin m5 m7 --json",
    "memlane memories history m3 --json",
    "memlane memories tree --type attribute.address --json",
    "memlane memories graph Tom --out tom.svg --json",
    "memlane undo --json",
    "memlane undo e3 --dry-run --json",
    "memlane forget m12 --soft --json",
    "memlane entities list --all --json",
    "memlane entities suggest --json",
    "memlane entities merge 'Kenji Tan' 'Mr Tan' --json",
    "memlane entities show 'Mr Tan' --json",
    "memlane entities path 'Mr Tan' --json",
    "memlane entities split 'Kenji Tan' 'Mr Tan' --json",
    "memlane entities reject Tom --json",
    "memlane types list --json",
    "memlane types add Preference Music -e 'I play the cello.' -e 'I sing.' -e 'Jazz is great.' "
    "--json",
    "memlane types fit preference.music --yes --json",
    "memlane types remove preference.music --move-to preference.culture --json",
)
SPACES: tuple[Step, ...] = (
    "memlane spaces add work --json",
    "memlane spaces allow work --see main --json",
    "memlane spaces deny work --see main --json",
    "memlane spaces trust work read --json",
    "memlane memories copy m5 --to work --json",
    "memlane memories move m6 --to work --json",
    "memlane --space work watch desk",
    "memlane spaces --json",
    "memlane forget m5 --soft --all-spaces --json",
    "memlane backup --out memlane.zip --json",
    "memlane spaces remove work --yes --json",
    "memlane restore memlane.zip --yes --json",
    "memlane rescue rescued --json",
)
USES: tuple[Step, ...] = (
    "memlane fill checkin.html --no-llm --json",
    "memlane fill checkin.html --no-llm --consent --apply --output filled.html --json",
    "memlane consent list --json",
    "memlane consent remove passport-number --json",
    "memlane rate Heat 4 --kind film --json",
    "memlane rate Heat 5 --genres crime --alias 'The Heat' --reason 'The pacing.' --json",
    "memlane predict Collateral --kind film --json",
    "memlane today --json",
    "memlane remind --json",
    "memlane remind --ics coming.ics --json",
    "memlane travel dentist --json",
    "memlane persona show --json",
    "memlane persona correct p1 'I run every Sunday.' --json",
    "memlane persona undo --json",
    "memlane persona drop p1 --json",
    "memlane persona refresh --json",
    "memlane persona predict 'Tea or coffee?' --option tea --option coffee --json",
    "memlane persona join --with ben --json",
)
FILES: tuple[Step, ...] = (
    "memlane ingest notes --json",
    "memlane memories history --runs --json",
    "memlane watch notes",
    home.files_were_watched,
    "memlane watch --list --json",
    "memlane watch --remove notes",
    "memlane export --out all.jsonl --json",
    "memlane import all.jsonl --json",
    "memlane import broken.jsonl --format jsonl --json",
    "memlane import claude.json --json",
    "memlane status --json",
    "memlane undo --run last --json",
    "memlane import calendar.ics --json",
    "memlane import calendar.ics --dry-run --json",
    "memlane sync Sync --pair --json",
    "memlane sync --key --json",
    home.the_key_is_written_down,
    "memlane --home ben sync Sync --pair --json < key.txt",
)
TRAINING: tuple[Step, ...] = (
    "memlane train --warm-start 20 --episodes 2 --pairs 0 --json",
    "memlane train --status --json",
    "memlane train --rollback --json",
    "memlane train --homes ann --test-homes ben --warm-start 20 --episodes 2 --pairs 0 "
    "--out all.npz --json",
)
MODELS: tuple[Step, ...] = (
    "memlane models list --json",
    "memlane models use smollm2-135m --json",
    "memlane config unset llm --json",
    "memlane models use-encoder all-minilm-l6-v2 --json",
    "memlane models pull OWNER/NAME model.gguf --json",
    "memlane models check --json",
    "memlane models cache --json",
    "memlane models cache --clear --json",
    "memlane config --json",
    "memlane config set k 12 --json",
    "memlane config unset k",
    "memlane doctor --quick --json",
)
PROGRAMS: tuple[Step, ...] = (
    "memlane hook install claude-code --yes --json",
    "memlane hook remove claude-code --yes --json",
    home.a_session_ended,
    "memlane hook review --json",
    "memlane hook review --accept f902e07c --json",
    home.a_browser_was_paired,
    "memlane browser extension extension --json",
    "memlane browser list --json",
    "memlane browser remove --all --json",
    home.a_program_asked,
    "memlane mcp --codes --json",
    "memlane completion bash --json",
)
PROCESSES: tuple[Step, ...] = (
    "memlane memories unlink m10 m35 --json",
    "memlane up --json",
    "memlane status --json  # while memlane is up",
    "memlane remember 'I sing in a choir.' --json  # while memlane is up",
    "memlane web --json",
    "memlane web --stop --json",
    "memlane browser pair --json",
    "memlane down --json",
    "memlane up --install --json",
    "memlane lock --yes --json < passphrase.txt",
    "memlane status --json  # of a locked home",
    "memlane unlock --json < passphrase.txt",
    "memlane lock --json  # again",
    "memlane lock --passphrase --json < passphrases.txt",
    "memlane lock --off --yes --json",
    "memlane demo --json",
    "memlane memories show m999 --json",
    # Last: this process keeps the file of the database open from here on.
    "memlane forget m13 --yes --json",
)
STEPS: tuple[Step, ...] = (
    *CONVERSATION, *MEMORIES, *SPACES, *USES, *FILES, *TRAINING, *MODELS, *PROGRAMS, *PROCESSES,
)  # fmt: skip
