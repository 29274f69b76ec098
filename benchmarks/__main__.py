"""Runs the benchmarks: prints a table, and with `--json FILE` writes the numbers.

    python -m benchmarks                  training steps against PyTorch (needs the [torch] extra), 5 minutes
    python -m benchmarks modularity       weighted activity vs L2 and PyTorch; nine regimes with two jobs, 6 minutes
    python -m benchmarks interaction      slot autoencoders: steps vs PyTorch, slot scores, interaction profile
    python -m benchmarks study            headlines of the studies from an empty store: minutes, share of compilation
    python -m benchmarks advise           advice on up to a million rows, vs a dense rank, 8 minutes
    python -m benchmarks second-opinion   render nets by PyTorch alone: how far do seeds differ? 2 minutes a net
    python -m benchmarks audit            audits of many rows, cells and classes: time and memory, 2 minutes
    python -m benchmarks planted          audits of models whose behaviour was planted: what is found, what is missed
    python -m benchmarks zoo              audits of models trained by sklearn, PyTorch and JAX, 50 kinds by 10 seeds
    python -m benchmarks calibration      audits of tables without a pattern, intervals of known populations, stability
    python -m benchmarks reuse            networks whose finetuning regime is known: what the report says, 5 minutes
    python -m benchmarks reuse-speed      that report on 5000 inputs and 20 layers of 2048 units: time and memory
    python -m benchmarks diagonal         diagonal networks: steps vs PyTorch, dual programme, curves of the theory
    python -m benchmarks gated            gated networks: steps vs PyTorch, programmes at size, the bias report
    python -m benchmarks cluster          Ray clusters of 1, 2 and 4 nodes on this machine (needs [ray]), 12 minutes
    python -m benchmarks store            100,000 results, as files and compacted: list, resume, export, 10 minutes

Training steps run on one thread, pinned to one core, and are measured in CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from importlib.metadata import version
from pathlib import Path

from benchmarks.measure import Row, table


def main() -> None:
    """Parses the command line and runs what it asks for."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what",
        nargs="?",
        choices=[
            "training",
            "modularity",
            "interaction",
            "study",
            "advise",
            "second-opinion",
            "audit",
            "planted",
            "zoo",
            "calibration",
            "reuse",
            "reuse-speed",
            "diagonal",
            "gated",
            "cluster",
            "store",
        ],
        default="training",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to FILE")
    parser.add_argument("--repeats", type=int, default=7, help="measurements of each side (default 7)")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="CASE",
        help="small, wide, mlp, cnn, render, seeds, winograd; of modularity: steps, regimes; of interaction: lines, "
        "sprites, probes; of study: names of studies; of calibration: nulls, intervals, stability; of second-opinion: "
        "'no penalty', 'both penalties'",
    )
    parser.add_argument(
        "--seeds",
        type=int,
        nargs="+",
        help="of the second opinion (default 42 0 1); of the zoo: how many of every kind (default 10)",
    )
    parser.add_argument("--epochs", type=int, default=300, help="of the second opinion")
    parser.add_argument(
        "--seed-offset", type=int, default=0, help="of planted models, of the zoo and of reuse"
    )
    parser.add_argument("--designs", type=int, default=12, help="networks before finetuning, of reuse")
    parser.add_argument("--per-kind", type=int, default=40, help="planted models of every kind (default 40)")
    parser.add_argument("--kinds", metavar="A,B", help="of the zoo (default: all)")
    parser.add_argument(
        "--jobs", type=int, default=1, help="processes of zoo and calibration, with one thread each"
    )
    parser.add_argument(
        "--tables", type=int, default=500, help="simulated tables of every kind, of calibration"
    )
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help="keep what training the zoo gave, for the next time"
    )
    parser.add_argument(
        "--stability",
        type=int,
        default=2,
        help="seeds of every kind of the zoo audited with eight resampling seeds more",
    )
    parser.add_argument(
        "--page", type=Path, metavar="FILE", help="write the zoo's page to FILE (.md or .html)"
    )
    parser.add_argument(
        "--no-follow", action="store_true", help="do not try the remedies that audits of the zoo offer"
    )
    options = parser.parse_args()
    if options.what == "second-opinion":
        from benchmarks.second_opinion import WEIGHTS, render_nets

        arms = [name for name in WEIGHTS if options.only is None or name in options.only]
        print(render_nets(options.seeds or [42, 0, 1], options.epochs, arms))
        return
    if options.what == "planted":
        from benchmarks.planted import confusion

        print(confusion(options.per_kind, options.seed_offset))
        return
    if options.what == "zoo":
        from benchmarks.zoo.command import zoo

        zoo(options)
        return
    if options.what == "calibration":
        from benchmarks.calibration import calibration

        numbers = calibration(options.tables, options.jobs, options.only)
        if options.json is not None:
            options.json.write_text(json.dumps(numbers, indent=2) + "\n", encoding="utf-8")
        return
    if options.what == "reuse":
        from benchmarks.reuse import confusion as regimes

        print(regimes(options.designs, options.seed_offset))
        return
    if options.what == "advise":
        from benchmarks.advise import at_scale

        rows = at_scale()
    elif options.what == "audit":
        from benchmarks.audit import at_scale as audits

        rows = audits()
    elif options.what == "reuse-speed":
        from benchmarks.reuse_speed import at_scale as reuse_at_scale

        rows = reuse_at_scale()
    elif options.what == "cluster":
        from benchmarks.cluster import efficiency

        rows = efficiency()
    elif options.what == "store":
        from benchmarks.store import at_scale as store_at_scale

        rows = store_at_scale()
    elif options.what == "diagonal":
        use_one_core()
        from benchmarks.diagonal import rows as diagonal_rows

        rows = diagonal_rows(repeats=options.repeats)
    elif options.what == "gated":
        use_one_core()
        from benchmarks.gated import rows as gated_rows

        rows = gated_rows(repeats=options.repeats)
    elif options.what == "modularity":
        rows = modularity_rows(options.repeats, options.only)
    elif options.what == "interaction":
        rows = interaction_rows(options.repeats, options.only)
    else:
        only = options.only
        rows = study_rows(only) if options.what == "study" else training_rows(options.repeats, only)
    print(table(rows))
    if options.json is not None:
        report = {"machine": platform.processor() or platform.machine(), "cores": os.cpu_count()}
        report |= {"versions": {name: version(name) for name in ("jax", "torch", "numpy")}}
        report |= {"rows": [row.to_dict() for row in rows]}
        options.json.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def training_rows(repeats: int, only: list[str] | None) -> list[Row]:
    """The engine compared with PyTorch, on one core."""
    use_one_core()
    from benchmarks.training import against_pytorch, cases, many_seeds, winograd

    rows = []
    for name, case in cases().items():
        if only is None or name in only:
            rows.append(against_pytorch(case, repeats=repeats))
    if only is None or "seeds" in only:
        rows += many_seeds(cases()["mlp"], seeds=8, repeats=repeats)
    if only is None or "winograd" in only:
        rows += winograd(cases()["cnn"], repeats=repeats)
    return rows


def modularity_rows(repeats: int, only: list[str] | None) -> list[Row]:
    """All regimes with two jobs, then single steps on one core."""
    from benchmarks.modularity import regimes, steps

    rows = [regimes()] if only is None or "regimes" in only else []
    if only is None or "steps" in only:
        use_one_core()
        rows += steps(repeats=repeats)
    return rows


def interaction_rows(repeats: int, only: list[str] | None) -> list[Row]:
    """Steps and probes of slot autoencoders, on one core."""
    use_one_core()
    from benchmarks.interaction import line_steps, probes, sprite_steps

    rows = line_steps(repeats=repeats) if only is None or "lines" in only else []
    rows += sprite_steps(repeats=repeats) if only is None or "sprites" in only else []
    return rows + (probes() if only is None or "probes" in only else [])


def use_one_core() -> None:
    """Pins this process before JAX and PyTorch start their threads."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    import torch

    torch.set_num_threads(1)


def study_rows(only: list[str] | None) -> list[Row]:
    """The headlines of every study from an empty store, and again from the full one."""
    from benchmarks.study import headlines
    from recombine.studies import STUDIES

    return headlines([study for study in STUDIES if only is None or study in only])


if __name__ == "__main__":
    main()
