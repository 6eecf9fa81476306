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
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from agent.errors import ModelDamaged, ModelError
from agent.models.catalog import (
    BUILT_IN,
    InstalledModel,
    Kind,
    ModelSpec,
    ModelStatus,
    check_kind,
    damaged,
    full_disk,
    missing,
    no_file,
    unknown,
)
from agent.models.weight_files import (
    Progress,
    VerifiedHashes,
    cannot_write,
    check_gguf,
    embedder_weights,
    hash_files,
    join,
    locked,
)
from store.database.whole_files import sync_folder
from store.errors import StoreFull

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class ModelRegistry:
    """The models of one machine. Reading never writes but for the record of checked hashes."""

    def __init__(self, models_dir: Path, specs: Sequence[ModelSpec] = BUILT_IN) -> None:
        self.models_dir = models_dir
        self._specs = {spec.name: spec for spec in specs}
        self._verified = VerifiedHashes(models_dir / "verified.json")

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
                check_gguf(path)
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
            check_gguf(path)
            return path
        check_kind(spec, "llm")
        if spec.assembled is None:
            self.verify(spec.name)
            return self._packaged(spec)
        target = self.models_dir / spec.assembled
        if not self._is_right(target, spec):
            if any(package.find() is None for package in spec.packages) and target.exists():
                raise damaged(spec, target)
            self._assemble(spec, target, on_progress)
        return target

    def resolve_embedder(self, name_or_path: str | Path) -> Path:
        """The folder of a sentence-transformers model.

        :raises ModelMissing: if there is no such model or folder.
        :raises ModelDamaged: if weights or configuration are missing, or the hash is wrong.
        """
        spec = self._specs.get(str(name_or_path))
        if spec is not None:
            check_kind(spec, "embedder")
            self.verify(spec.name)
            return self._packaged(spec)
        folder = self._find_path(name_or_path)
        embedder_weights(folder)
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
                embedder_weights(path)
                return "embedder"
            check_gguf(path)
            return "llm"
        found = self._look(spec)
        if found.status == "missing":
            raise missing(spec)
        if found.status == "damaged":
            raise damaged(spec, found.path)
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
            raise unknown(name)
        target = self.models_dir / spec.assembled if spec.assembled else None
        if spec.assembled and not (target and target.exists()):
            found = hash_files(self._parts(spec))
            target = None
        else:
            target = target or self._weights(spec)
            found = self._verified.sha256(target, force=force)
        if found != spec.sha256:
            raise damaged(spec, target)
        for name, digest in spec.beside:
            path = self._packaged(spec) / name
            if not path.is_file() or self._verified.sha256(path, force=force) != digest:
                raise damaged(spec, path)
        return found

    def sha256(self, path: Path, force: bool = False) -> str:
        """Hex SHA-256 of a GGUF file, or of an embedder folder's weights; remembered.

        The first reading takes about a second for each gigabyte or two.

        :raises ModelMissing: if there is no such file.
        """
        if not path.exists():
            raise no_file(path)
        return self._verified.sha256(embedder_weights(path) if path.is_dir() else path, force)

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
                f"{repo_or_url!r} is not a model repository. Write it as owner/repo, "
                "e.g. Qwen/Qwen2.5-1.5B-Instruct-GGUF."
            )
        if not filename.endswith(".gguf"):
            raise ModelError(f"{filename!r} is not a GGUF file. Name one that ends in .gguf.")
        self._make_dir()
        from agent.models.adapters import hub_download

        try:
            path = hub_download.download(repo, filename, self.models_dir, on_progress)
        except OSError as error:
            if error.errno in _NO_SPACE:
                raise StoreFull(
                    f"No room for {filename} in {self.models_dir}. Free some space and try again."
                ) from error
            raise cannot_write(self.models_dir / filename, error) from error
        try:
            check_gguf(path)
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
            raise missing(spec)
        return path

    def _weights(self, spec: ModelSpec) -> Path:
        """The packaged file that ``spec.sha256`` is of."""
        path = self._packaged(spec)
        weights = path / spec.weights if spec.weights else path
        if not weights.is_file():
            raise damaged(spec, weights)
        return weights

    def _parts(self, spec: ModelSpec) -> tuple[Path, ...]:
        parts = [package.find() for package in spec.packages]
        if not all(parts):
            raise missing(spec)
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
                raise unknown(str(name_or_path))
        raise no_file(path)

    def _make_dir(self) -> None:
        try:
            self.models_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(self.models_dir, error) from error

    def _assemble(self, spec: ModelSpec, target: Path, on_progress: Progress | None) -> None:
        """Join the parts into ``target``. A second process waits here for the first."""
        parts = self._parts(spec)
        self._make_dir()
        half = target.with_name(f".{target.name}.part")
        with locked(target.with_name(f".{target.name}.lock")):
            if self._is_right(target, spec):
                return
            try:
                # Under the lock nobody else writes it: what lies there is left by a crash.
                half.unlink(missing_ok=True)
                if shutil.disk_usage(self.models_dir).free < spec.size:
                    raise full_disk(spec, self.models_dir)
                found = join(parts, half, spec.size, on_progress)
                if found != spec.sha256:
                    raise damaged(spec, None)
                os.replace(half, target)
                sync_folder(self.models_dir)
            except OSError as error:
                if error.errno in _NO_SPACE:
                    raise full_disk(spec, self.models_dir) from error
                raise cannot_write(target, error) from error
            finally:
                with contextlib.suppress(OSError):
                    half.unlink(missing_ok=True)
            self._verified.remember(target, found)
