"""OCR with RapidOCR and its packaged weights.

Pillow checks every file before the reader sees it, so that whatever is no whole picture ends in
one clear line. Nothing is downloaded: the reader is given the paths of the packaged weights.
"""

from __future__ import annotations

import importlib.util
import math
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from agent.errors import ModelDamaged, ModelMissing, UnreadableSource
from agent.models.weight_files import is_as_packaged
from agent.ports import TextLine

MAX_PIXELS = 80_000_000
"""Larger pictures are refused: a phone's camera stays below, a decompression bomb does not."""
READ_PIXELS = 4_000_000
"""Larger pictures are shrunk to this for reading; text on a screenshot stays legible."""
LONGEST = 6
"""Most times that the reader sees a picture longer than wide, or wider than long."""
_TASKS = {"Det": "*det*.onnx", "Cls": "*cls*.onnx", "Rec": "*rec*.onnx"}


class RapidReader:
    """Reads pictures; fulfils ``agent.ports.TextReader``. Weights load with the first picture."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._engine: Any = None

    def read(self, image: Path) -> list[TextLine]:
        """Lines in reading order, boxes in pixels of the upright picture.

        :raises UnreadableSource: if the file is missing, empty, truncated, too large or no picture.
        :raises ModelMissing: if rapidocr or its weights are not installed.
        :raises ModelDamaged: if its weights are not what was installed.
        """
        picture = _open(image)
        width, height = _canvas(picture.width, picture.height)
        scale = min(1.0, math.sqrt(READ_PIXELS / (width * height)))
        if scale < 1:
            size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
            picture = picture.resize(size, Image.Resampling.LANCZOS)
        canvas = Image.new("RGB", _canvas(picture.width, picture.height), "white")
        canvas.paste(picture, (0, 0))
        # Colours the way OpenCV has them: blue first.
        pixels: NDArray[np.uint8] = np.ascontiguousarray(np.asarray(canvas)[:, :, ::-1])
        with self._lock:
            if self._engine is None:
                self._engine = _load_engine()
            found = self._engine(pixels)
        if found.txts is None or found.boxes is None or found.scores is None:
            return []
        return reading_order(
            [
                _line(text, box, float(score), scale)
                for text, box, score in zip(found.txts, found.boxes, found.scores, strict=True)
                if text.strip()
            ]
        )


def reading_order(lines: Sequence[TextLine]) -> list[TextLine]:
    """Rows from top to bottom, each from left to right.

    Lines are in one row when the lower of them overlaps the row by more than half its height.
    """
    rows: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: (line.top + line.bottom, line.left)):
        if rows and _same_row(rows[-1], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda line: line.left)]


def _same_row(row: Sequence[TextLine], line: TextLine) -> bool:
    top = sum(other.top for other in row) / len(row)
    bottom = sum(other.bottom for other in row) / len(row)
    overlap = min(bottom, line.bottom) - max(top, line.top)
    return overlap > 0.5 * min(bottom - top, line.bottom - line.top)


def _line(text: str, box: NDArray[np.float32], score: float, scale: float) -> TextLine:
    left, top = (float(value) / scale for value in box.min(axis=0))
    right, bottom = (float(value) / scale for value in box.max(axis=0))
    return TextLine(text.strip(), left, top, right, bottom, score)


def _open(path: Path) -> Image.Image:
    """The whole picture as upright RGB on white."""
    try:
        if path.stat().st_size == 0:
            raise UnreadableSource(f"{path} is empty. Save the picture again.")
        with warnings.catch_warnings():
            # Pillow warns of large pictures; their size is checked below. Odd EXIF is no matter.
            warnings.simplefilter("ignore")
            with Image.open(path) as picture:
                if picture.width * picture.height > MAX_PIXELS:
                    raise _too_large(path)
                picture.load()
                upright = ImageOps.exif_transpose(picture)
    except UnidentifiedImageError as error:
        raise UnreadableSource(
            f"{path} is not a picture that can be read. Save it as PNG or JPEG and try again."
        ) from error
    except Image.DecompressionBombError as error:
        raise _too_large(path) from error
    except FileNotFoundError as error:
        raise UnreadableSource(f"There is no file {path}. Check the path.") from error
    except IsADirectoryError as error:
        raise UnreadableSource(f"{path} is a folder. Name a picture in it.") from error
    except PermissionError as error:
        raise UnreadableSource(f"{path} cannot be read. Change its permissions.") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        # Pillow's decoders use all of these for broken data.
        raise UnreadableSource(
            f"{path} is truncated or damaged. Save or copy the picture again."
        ) from error
    if upright.has_transparency_data:
        layer = upright.convert("RGBA")
        upright = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
    return upright.convert("RGB")


def _canvas(width: int, height: int) -> tuple[int, int]:
    """The size that a picture is laid on: a mere strip gets white to its right or below.

    The reader enlarges every picture until its short side has 736 pixels; a strip of 3 by 2000
    would then take more memory than there is.
    """
    return max(width, math.ceil(height / LONGEST)), max(height, math.ceil(width / LONGEST))


def _too_large(path: Path) -> UnreadableSource:
    return UnreadableSource(
        f"{path} has more than {MAX_PIXELS // 1_000_000} million pixels. "
        "Crop or shrink it and try again."
    )


def _load_engine() -> Any:
    remedy = "Install it again with: pip install --force-reinstall rapidocr"
    spec = importlib.util.find_spec("rapidocr")
    if spec is None or spec.origin is None:
        raise ModelMissing(f"The text reader rapidocr is not installed. {remedy}")
    models = Path(spec.origin).parent / "models"
    # Left to itself, rapidocr downloads weights it does not find. Pictures of any length are
    # ours to shrink, so its own limit is out of the way.
    params: dict[str, Any] = {"Global.log_level": "critical", "Global.max_side_len": 100_000}
    for task, pattern in _TASKS.items():
        weights = sorted(models.glob(pattern))
        if not weights:
            raise ModelMissing(f"The text reader's weights are missing in {models}. {remedy}")
        if not is_as_packaged("rapidocr", weights[0]):
            raise ModelDamaged(f"The text reader's weights at {weights[0]} are damaged. {remedy}")
        params[f"{task}.model_path"] = str(weights[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from rapidocr import RapidOCR
    return RapidOCR(params=params)
