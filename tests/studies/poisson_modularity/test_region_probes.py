"""Errors on seen and unseen regions, with nets whose error is known."""

import jax
import numpy as np
import pytest

from recombine import nets
from recombine.studies.poisson_modularity.compositions import gaussian_wedge
from recombine.studies.poisson_modularity.region_probes import lattice, map_of, region_errors

pytestmark = pytest.mark.usefixtures("compile_quickly")


@pytest.fixture
def constant_net():
    net = nets.mlp(inputs=2, width=4, depth=1, outputs=1, key=jax.random.key(0))
    return jax.tree.map(lambda leaf: 0 * leaf if hasattr(leaf, "shape") else leaf, net)


def test_errors_are_divided_by_the_variance_of_each_region(constant_net):
    task = gaussian_wedge(draws=500)
    values = region_errors(constant_net, task)
    for name, rows in (("in", task.rows_in), ("out", task.rows_out)):
        target = task.targets[rows].astype(float)
        assert values[f"mse_{name}"] == pytest.approx((target**2).mean(), rel=1e-5)
        assert values[f"relative_{name}"] == pytest.approx((target**2).mean() / target.var(), rel=1e-5)


def test_a_map_has_x_along_the_first_axis(constant_net):
    values = map_of(constant_net, gaussian_wedge(draws=50), side=5)["map"]
    np.testing.assert_array_equal(values, np.zeros((5, 5)))
    np.testing.assert_array_equal(lattice(3)[:2], [[-1, -1], [-1, 0]])
