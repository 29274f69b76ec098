"""Two classifiers of the same animals, side by side, with a gate for the newer one.

The older one is in the table: it goes by colour. The newer one is a logistic regression on colour and animal. With
`--write FILE`, their predictions are written as a table (`examples/two_models.csv` was made this way).
"""

import argparse
from pathlib import Path

import polars as pl
from sklearn.linear_model import LogisticRegression

from recombine import audit

TABLE = Path(__file__).parent / "predictions.csv"


def main(write: str | None = None) -> None:
    table = pl.read_csv(TABLE)
    x = table.select("colour", "animal").to_dummies().to_numpy()
    train = (table["split"] == "train").to_numpy()
    labels = table["label"].to_numpy()
    model = LogisticRegression().fit(x[train], labels[train])
    both = table.rename({"prediction": "v1"}).with_columns(v2=pl.Series(model.predict(x)))
    comparison = audit(
        both,
        factors=["colour", "animal"],
        seen="split=train",
        target="label",
        prediction={"v1": "v1", "v2": "v2"},
    )
    print(comparison)
    print()
    print(comparison.check("v2: does-not-compose, v2: unseen > 0.3, v2: undecided"))
    if write:
        both.write_csv(write)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", metavar="FILE", help="write the predictions of both as a CSV file")
    main(**vars(parser.parse_args()))
