"""Which examples to collect next? Ask for advice, add a cell, and see at once what training then determines."""

import time
from pathlib import Path

import polars as pl

from recombine import advise

TABLE = Path(__file__).with_name("animals.csv")


def main() -> None:
    frame = pl.read_csv(TABLE)
    advice = advise(frame, factors=["colour", "shape", "size"], seen="split=train")

    # If pairs of factors interact (order 2), which unseen cells are not determined, and what would help?
    open_cells = advice.cells().filter(pl.col("order_2") != "determined")
    print(f"{len(open_cells)} of {len(advice.targets)} unseen cells are not determined, among them:")
    print(open_cells.select("colour", "shape", "size", "order_2").head(3))

    suggested = advice.additions().filter(pl.col("order") == 2).drop("order").to_dicts()
    for cell in suggested:
        started = time.perf_counter()
        advice = advice.with_cells([cell])  # a new object; the old advice stays as it was
        seconds = time.perf_counter() - started
        pairs = advice.orders[2]
        print(
            f"with {' '.join(cell.values()):<18} {pairs.determined.sum():>2} of {len(advice.targets):>2} determined, "
            f"{len(pairs.additions.cells)} to go, predictions at {advice.leak.median:.0%} of their true size  "
            f"({1000 * seconds:.0f} ms)"
        )


if __name__ == "__main__":
    main()
