"""Cell means from chunks are those of all rows at once; sketches keep geometry."""

import numpy as np

from recombine.auditing.internals import cell_means as module
from recombine.auditing.internals.cell_means import CellMeans


def test_chunks_do_not_matter():
    rng = np.random.default_rng(0)
    cell_index, activity = rng.integers(7, size=100), rng.normal(size=(100, 3, 4)).astype(np.float32)
    once, often = CellMeans(cell_index, 7, 1), CellMeans(cell_index, 7, 1)
    once.add(slice(0, 100), {"a": activity})
    for start in range(0, 100, 13):
        often.add(slice(start, min(100, start + 13)), {"a": activity[start : start + 13]})
    expected = np.stack([activity[cell_index == cell].reshape(-1, 12).mean(axis=0) for cell in range(7)])
    assert np.allclose(once.means()["a"], expected, atol=1e-5)
    assert np.allclose(often.means()["a"], expected, atol=1e-5)


def test_wide_layers_are_sketched_and_keep_inner_products(monkeypatch):
    monkeypatch.setattr(module, "MAX_KEPT_UNITS", 1024)
    rng = np.random.default_rng(0)
    activity = rng.normal(size=(20, 8000)).astype(np.float32)
    result = CellMeans(np.arange(20), 20, 1)
    result.add(slice(0, 20), {"wide": activity})
    means = result.means()["wide"]
    assert means.shape == (20, 1024)
    assert result.sketched == {"wide": 8000}
    expected, got = activity @ activity.T, means @ means.T
    assert np.abs(got - expected).max() < 0.15 * 8000


def test_memory_is_shared_by_all_layers(monkeypatch):
    monkeypatch.setattr(module, "MAX_ACTIVITY_BYTES", 4 * 100 * 2 * 200)
    means = CellMeans(np.arange(100), 100, 2)
    means.add(slice(0, 100), {"a": np.zeros((100, 5000)), "b": np.zeros((100, 50))})
    assert [mean.shape[1] for mean in means.means().values()] == [200, 50]
