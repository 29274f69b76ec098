"""Networks that were trained in a known regime get its label; `python -m benchmarks reuse` trains many more."""

import numpy as np
import pytest
import torch
from tests.reuse.planted import TRUTH, Design, cases

from recombine import reuse_report


@pytest.mark.parametrize("seed", [500, 501], ids=["torch", "jax"])
def test_regimes_of_trained_networks(seed):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        kinds = [kind for kind in TRUTH if kind not in {"shrunken", "reset"}]
        design = Design.drawn(seed, width=64, depth=1)
        found = {
            case.kind: reuse_report(case.before, case.after, case.inputs).label
            for case in cases(design, kinds, steps=300)
        }
    finally:
        torch.set_num_threads(threads)
    assert found == {kind: TRUTH[kind] for kind in kinds}


def test_removed_units_stay_removed():
    """The truth of selected networks: zero weights on both sides get no gradient."""
    from tests.reuse.planted import drawn, selected, train

    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 15)).astype(np.float32)
    y = np.maximum(x[:, :1], 0)
    before = drawn(Design.drawn(0, width=40, depth=1), rng)
    chosen = selected(before, (x, y))
    after = train(chosen, x, y, steps=50, framework="torch", seed=0)
    gone = (chosen[0][0] == 0).all(axis=0)
    assert 0.75 <= gone.mean() < 1
    assert (after[0][0][:, gone] == 0).all()
