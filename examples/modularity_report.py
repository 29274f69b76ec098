"""Two nets do the same task about equally well. Which one is made of parts, and what can its parts do alone?"""

import numpy as np

from recombine import modularity_report

PARTS = 3
UNITS = 20
"""Hidden units for each part."""


def sines(x: np.ndarray) -> np.ndarray:
    return np.sin(x * np.linspace(0.8, 1.6, x.shape[1]))  # output i depends on input i alone


def hidden_layer(modular: bool, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random weights into hidden units: each unit reads one input, or all of them."""
    own = np.arange(PARTS * UNITS) % PARTS == np.arange(PARTS)[:, None]
    return rng.normal(size=own.shape) * (own if modular else 0.5), rng.normal(size=PARTS * UNITS)


def main() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, size=(500, PARTS))
    for name, modular in (("a net of parts", True), ("a net that mixes them", False)):
        first, bias = hidden_layer(modular, rng)
        activity = np.tanh(x @ first + bias)
        gram = activity.T @ activity + 0.5 * np.eye(PARTS * UNITS)
        second = np.linalg.solve(gram, activity.T @ sines(x))  # ridge regression stands in for training
        report = modularity_report(
            [first, second],
            biases=[bias, np.zeros(PARTS)],
            activation="tanh",
            x=x,
            y=sines(x),
            inputs="own",  # leave this out to look for modules in the weights alone
            outputs="own",
        )
        print(f"--- {name}\n{report}\n")
        if report.verdict.word == "modular":
            for part in report.extract():
                error = np.mean((part(x) - sines(x)[:, part.outputs]) ** 2)
                print(f"{part} alone has an error of {error:.1e}")
            print()


if __name__ == "__main__":
    main()
