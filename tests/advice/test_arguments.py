"""What `advise` takes: arrays as well as tables; and one line for each argument of the wrong type."""

import numpy as np
import polars as pl
import pytest

from recombine import InputError, advise, audit

COLOUR = np.array(["red", "red", "blue", "blue", "red", "blue"])
SHAPE = np.array([0, 1, 0, 1, 2, 2])
TRAIN = np.array([True, True, True, False, True, False])
Y = np.array([0.0, 1.0, 5.0, 6.0, 2.0, 7.0])


def test_arrays_and_tables_give_the_same_advice(tmp_path):
    table = {"colour": COLOUR, "shape": SHAPE, "split": np.where(TRAIN, "train", "test"), "y": Y, "price": Y}
    pl.DataFrame(table).write_csv(tmp_path / "rows.csv")
    by_name = {"factors": "colour,shape", "seen": "split=train", "target": "y", "cost": "price"}
    advices = [
        advise(table, **by_name),
        advise(tmp_path / "rows.csv", **by_name),
        advise(table, factors=["colour", "shape"], seen=TRAIN, target=Y, cost=Y),
        advise(factors={"colour": COLOUR, "shape": SHAPE}, seen=TRAIN.tolist(), target=Y.tolist(), cost=Y),
    ]
    first = advices[0].to_dict()
    for advice in advices[1:]:
        other = advice.to_dict()
        for key in ("factors", "cells", "orders", "additivity", "coverage", "leak"):
            assert other[key] == first[key], key


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"factors": 3}, "factors"),
        ({"factors": [1, 2]}, "factors"),
        ({"factors": None}, "factors"),
        ({"seen": None}, "seen"),
        ({"seen": np.ones((6, 1), dtype=bool)}, "seen"),
        ({"seen": [2] * 6}, "seen"),
        ({"target": [1, 2]}, "target"),
        ({"target": 7}, "target"),
        ({"orders": None}, "order"),
        ({"orders": 1.5}, "order"),
        ({"orders": [2**70, "a"]}, "order"),
        ({"average": "yes"}, "average"),
        ({"salience": 3}, "salience"),
        ({"salience": "relu:99999999999999999999"}, "salience"),
        ({"cost": {"a": 1}}, "cost"),
        ({"ban": [{}]}, "ban"),
        ({"ban": 3}, "ban"),
        ({"exclude": [{"shape": [1]}]}, "exclude"),
        ({"interest": ["unseen"]}, "interest"),
        ({"bins": [3]}, "bins"),
        ({"bins": {"shape": 10**9}}, "bins"),
        ({"activations": object()}, "activations"),
    ],
)
def test_a_wrong_type_is_named(arguments, field):
    table = {"colour": COLOUR, "shape": SHAPE, "train": TRAIN}
    with pytest.raises(InputError) as error:
        advise(table, **{"factors": ["colour", "shape"], "seen": "train"} | arguments)
    assert error.value.field.startswith(field)
    assert "\n" not in str(error.value)


def test_too_much_is_refused_before_anything_is_allocated():
    bits = np.random.default_rng(0).integers(0, 2, size=(100, 20))
    factors = {f"f{axis}": bits[:, axis] for axis in range(20)}
    seen, labels = np.arange(100) > 20, np.arange(100) % 2
    with pytest.raises(InputError, match="factors: got '20 factors'"):
        advise(factors=factors, seen=seen)
    with pytest.raises(InputError, match="factors: got '20 factors'"):
        audit(factors=factors, seen=seen, target=labels, prediction=labels)
    many = np.arange(1_000_000) // 2
    for call in (advise, audit):
        extra = {"prediction": many % 7} if call is audit else {}
        with pytest.raises(InputError, match="got '500,000 levels', expected at most 10,000"):
            call(factors={"a": many, "b": many % 5}, seen=many % 3 > 0, **extra)
    cells = np.random.default_rng(0).integers(0, 50, size=(20_000, 2))
    names = np.array([f"c{number}" for number in np.arange(20_000) % 10_000])
    with pytest.raises(InputError, match="target: got '10,000 classes', expected at most 1,000"):
        audit(
            factors={"a": cells[:, 0], "b": cells[:, 1]},
            seen=cells.sum(axis=1) % 3 > 0,
            target=names,
            prediction=names,
        )


def test_levels_that_differ_in_case_or_white_space_are_linted():
    table = {
        "colour": ["Red", "red", "red ", "blue"] * 3,
        "shape": [0, 1, 2] * 4,
        "train": [True] * 11 + [False],
    }
    results = [one for one in advise(table, factors="colour,shape", seen="train").lint if one.code == "L7"]
    assert len(results) == 1
    assert "'Red', 'red', 'red '" in results[0].message
    assert results[0].count == 9
