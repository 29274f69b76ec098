"""Which samples to collect next? Ask, add a cell, and see at once what becomes known."""

import time
from pathlib import Path

import polars as pl

from recombine import advise

TABLE = Path(__file__).with_name("animals.csv")


def main() -> None:
    frame = pl.read_csv(TABLE)
    advice = advise(frame, factors=["colour", "shape", "size"], seen="split=train")

    # Pairs may matter (order 2): which cells are open, and what would help?
    open_cells = advice.cells().filter(pl.col("order_2") != "determined")
    print(f"{len(open_cells)} of {len(advice.targets)} unseen cells are open, among them:")
    print(open_cells.select("colour", "shape", "size", "order_2").head(3))

    suggested = advice.additions().filter(pl.col("order") == 2).drop("order").to_dicts()
    for cell in suggested:
        started = time.perf_counter()
        advice = advice.with_cells([cell])  # new advice; the old one stays as it was
        seconds = time.perf_counter() - started
        found = advice.orders[2]
        print(
            f"with {' '.join(cell.values()):<18} {found.determined.sum():>2} of {len(advice.targets):>2} determined, "
            f"{len(found.additions.cells)} to go, answers kept to {advice.leak.median:.2f}  ({1000 * seconds:.0f} ms)"
        )


if __name__ == "__main__":
    main()
