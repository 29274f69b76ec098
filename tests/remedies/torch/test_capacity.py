"""The KL term of slots: the number of the JAX penalty."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn

from recombine.errors import InputError
from recombine.remedies import capacity as in_jax
from recombine.torch import capacity


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.dense, self.encoding = nn.Linear(4, 12), nn.Unflatten(1, (2, 6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.encoding(self.dense(x))


def test_the_number_of_jax() -> None:
    torch.manual_seed(0)
    net, x = Encoder(), torch.randn(5, 4)
    value = capacity(net, x)
    encoding = jnp.asarray(net(x).detach().numpy())
    np.testing.assert_allclose(value.item(), float(in_jax(None, {"encoding": encoding}, None)), rtol=1e-5)
    value.backward()
    assert (net.dense.weight.grad != 0).any()


def test_bad_input() -> None:
    with pytest.raises(InputError, match=r"stage: got .output .5, 12. of 'dense'., expected"):
        capacity(Encoder(), torch.ones(5, 4), stage="dense")
    with pytest.raises(InputError, match="layers: got 'code'"):
        capacity(Encoder(), torch.ones(5, 4), stage="code")
