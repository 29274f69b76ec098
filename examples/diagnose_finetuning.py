"""What did finetuning keep? Three ways to change a layer, and what the report says about each."""

import numpy as np

from recombine import reuse_report


def main(rows: int = 400) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 15))
    known = rng.normal(size=(15, 60)) * (np.arange(15) < 8)[:, None]  # the old task looked at eight inputs
    before = np.maximum(x @ known, 0)
    few = np.zeros(60)
    few[:6] = 1.0
    changes = {
        "a linear probe": before,
        "a few of the old units": before * few,
        "new inputs": np.maximum(x @ (rng.normal(size=(15, 60)) * (np.arange(15) >= 8)[:, None]), 0),
    }
    for name, after in changes.items():
        report = reuse_report({"hidden": before}, {"hidden": after}, name=name)
        layer = report.layers[0]
        print(f"{name}: {report.label} ({layer.before:.1f} dimensions before, {layer.after:.1f} after)")


if __name__ == "__main__":
    main()
