"""A short run of `benchmarks/fuzz.py`: calls with wrong types and malformed data end in results and InputErrors."""

from benchmarks.fuzz import FUNCTIONS, fuzz, make_call, run


def test_wrong_types_and_malformed_data_end_in_results_or_input_errors():
    lines = []
    assert not fuzz(500, seed=0, report=lines.append), "\n".join(lines)
    for function in FUNCTIONS:
        for kind in ("result", "InputError"):
            assert any(function in line and kind in line for line in lines), (function, kind)


def test_a_call_can_be_repeated_by_its_number(tmp_path):
    for number in (3, 17):
        first, again = (make_call(number, 0, tmp_path) for _ in range(2))
        assert str(first).split(" at 0x")[0] == str(again).split(" at 0x")[0]
        assert run(first).kind == run(again).kind
