"""Gradients through the record encoder of ``purple``, by torch's automatic differentiation.

The arithmetic is ``policies.purple.purple_encoder.forward``, written once for arrays and tensors.
torch comes with sentence-transformers; it is imported here and at the first training only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from agent.errors import ModelMissing
from policies.purple.purple_encoder import Propensities, Records, forward, named
from policies.training.mlp import Floats


class TorchGradients:
    """Fulfils ``policies.purple.purple_training.Backward``."""

    def __init__(self) -> None:
        try:
            import torch
        except ModuleNotFoundError as error:
            raise ModelMissing(
                "Learning this policy needs PyTorch. Install it from the checkout: "
                "pip install -c constraints.txt torch"
            ) from error
        self._torch = torch

    def __call__(self, network: Propensities, records: Records, pull: Floats) -> Floats:
        """The gradient of ``scores @ pull`` in the weights, in the order of ``network.flat``."""
        return self.through(network, records, lambda scores: pull)

    def through(
        self, network: Propensities, records: Records, pull: Callable[[Floats], Floats]
    ) -> Floats:
        """The same where the pull comes from the scores themselves: they are reckoned once."""
        torch = self._torch
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # so small that threads would only wait for each other
        try:
            flat = torch.from_numpy(network.flat.astype(np.float32)).requires_grad_()
            read = {f.name: torch.from_numpy(getattr(records, f.name)) for f in fields(records)}
            # Tensors stand in for arrays: forward knows what both can do.
            scores = forward(named(flat, network), replace(records, **read), network, self)
            pulls = pull(np.asarray(scores.detach(), np.float64))
            (scores * torch.from_numpy(pulls.astype(np.float32))).sum().backward()
        finally:
            torch.set_num_threads(threads)
        return np.asarray(flat.grad, np.float64)

    def exp(self, x: Any) -> Any:
        return self._torch.exp(x)

    def log1p(self, x: Any) -> Any:
        return self._torch.log1p(x)

    def highest(self, x: Any) -> Any:
        return x.amax(-1, keepdim=True)
