"""Audit the free-text answers of a vision-language model: which factor does it get wrong on unseen combinations?

The answers in `answers.csv` are invented. The model sees a picture of one object and is asked in three ways what it is.
It knows the combinations that it was trained on. On others it names the right shape, but often a colour in which it
saw that shape.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from recombine import audit
from recombine.auditing import TextScoring
from recombine.data import read_synonyms

HERE = Path(__file__).parent
COLOURS = {
    "red": ("red", "crimson", "bright red"),
    "blue": ("blue", "navy", "dark blue"),
    "green": ("green", "lime", "green"),
    "yellow": ("yellow", "golden", "yellow"),
    "purple": ("purple", "violet", "purple"),
    "orange": ("orange", "orange", "orange"),
    "grey": ("grey", "gray", "silver"),
}
SHAPES = {
    "cube": ("cube", "box", "Cube"),
    "ball": ("ball", "sphere", "ball"),
    "cone": ("cone", "cone", "CONE"),
    "ring": ("ring", "torus", "ring"),
    "star": ("star", "star", "star"),
    "disc": ("disc", "disk", "disc"),
    "pyramid": ("pyramid", "pyramid", "tetrahedron"),
}
QUESTIONS = {
    "What is this?": ("It is a {} {}.", "This is the {} {}.", "That's a {} {}!"),
    "Name the object.": ("{} {}", "A {} {}", "**{} {}**"),
    "Describe the picture.": (
        "The picture shows one {} {} on a plain background.",
        "I can see a single {} {}, photographed from above.",
        "There is one {} {}; nothing else is in the scene.",
    ),
}
REFUSALS = ("I'm sorry, I can't tell what this is.", "Not sure.", "")


def make_answers(path: Path, seed: int = 0) -> None:
    """Writes the table: every colour with every shape, asked in three ways."""
    rng = np.random.default_rng(seed)
    colours, shapes = list(COLOURS), list(SHAPES)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["colour", "shape", "question", "split", "target", "answer"])
        for c, colour in enumerate(colours):
            for s, shape in enumerate(shapes):
                split = "test" if (c + 2 * s) % 7 in (1, 3, 4) else "train"
                for question, templates in QUESTIONS.items():
                    named, kind = colour, shape
                    if split == "test" and rng.random() < 0.7:
                        named = colours[-2 * s % 7]  # one of the colours in which this shape was seen
                    if rng.random() < 0.04:
                        kind = shapes[(s + 1) % 7]
                    words = rng.choice(COLOURS[named]), rng.choice(SHAPES[kind])
                    answer = str(rng.choice(templates)).format(*words)
                    if rng.random() < 0.04:
                        answer = str(rng.choice(REFUSALS))
                    rows.writerow([colour, shape, question, split, f"{colour} {shape}", answer])


def main(path: Path = HERE / "answers.csv") -> None:
    scoring = TextScoring(synonyms=read_synonyms(HERE / "synonyms.csv"), match="contains")
    report = audit(
        path,
        factors=["colour", "shape"],
        seen="split=train",
        target="target",
        prediction="answer",
        text=scoring,
        parts=["colour", "shape"],
        name="the captioner",
    )
    print(report)


if __name__ == "__main__":
    main()
