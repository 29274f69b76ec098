"""Lines of code for remedies, in the user's framework. Names that the user has: `net`, `x`, `y`, `loss`, `report`.

Every snippet runs as it stands where those names exist; the tests do so.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent


def _lines(text: str) -> str:
    return dedent(text).strip()


def balance(framework: str, factors: Sequence[str]) -> str:
    """Weights of training rows that make factors and target independent."""
    names = " and ".join(factors)
    use = {
        "torch": "sampler = torch.utils.data.WeightedRandomSampler(weight.tolist(), num_samples=len(weight))",
        "sklearn": "model.fit(x, label, sample_weight=weight)  # most estimators take it",
    }
    imports = "import numpy as np\nimport torch" if framework == "torch" else "import numpy as np"
    return "\n".join(
        [
            imports,
            "",
            f"# level, label: (rows,) of the training rows: their {names}, and their targets",
            "pair = np.stack([level, label]).astype(str)",
            "_, group, rows = np.unique(pair, axis=1, return_inverse=True, return_counts=True)",
            "weight = 1 / rows[group]",
            use.get(
                framework, "batch = np.random.default_rng(0).choice(len(weight), 64, p=weight / weight.sum())"
            ),
        ]
    )


def single_factors(framework: str) -> str:
    """Rows that show one factor at a time."""
    rows = _lines(
        """
        from recombine.tasks import single_factor_rows

        # render and encode turn positions (rows, factors) into targets and inputs; NaN: a factor is absent
        more_x, more_y = single_factor_rows(render, encode, levels)  # levels: how many each factor has
        """
    )
    if framework == "torch":
        use = """
            import torch

            x = torch.cat([x, torch.as_tensor(more_x, dtype=x.dtype)])
            y = torch.cat([y, torch.as_tensor(more_y, dtype=y.dtype)])
            """
    else:
        use = """
            import numpy as np

            x, y = np.concatenate([x, more_x]), np.concatenate([y, more_y])
            """
    return f"{rows}\n{_lines(use)}"


def forced_rendering(framework: str) -> str:
    """A net that renders factors first, and its penalties."""
    if framework == "torch":
        return _lines(
            """
            from recombine.torch import forced_rendering

            remedy = forced_rendering(levels)  # inputs: one-hot codes of the factors in a row
            loss = ((remedy.net(codes) - y) ** 2).mean() + remedy.penalty()
            """
        )
    return _lines(
        """
        from recombine.remedies import forced_rendering

        remedy = forced_rendering(levels)  # remedy.net and remedy.penalties go into a Recipe and fit
        """
    )


def interactions(framework: str) -> str:
    """Factors that meet in a product."""
    if framework == "torch":
        return _lines(
            """
            import torch

            class Product(torch.nn.Module):
                def __init__(self, levels, outputs, width=8):
                    super().__init__()
                    self.codes = torch.nn.ModuleList(torch.nn.Linear(n, width) for n in levels)
                    self.readout = torch.nn.Linear(width, outputs)

                def forward(self, x):
                    parts = x.split([code.in_features for code in self.codes], dim=1)
                    return self.readout(torch.stack([code(x) for code, x in zip(self.codes, parts)]).prod(0))

            net = Product(levels, y.shape[1])  # x: one-hot codes of the factors in a row; levels: how many each has
            """
        )
    if framework == "jax":
        return _lines(
            """
            import equinox as eqx
            import jax
            import jax.numpy as jnp

            class Product(eqx.Module):
                codes: list
                readout: eqx.nn.Linear

                def __init__(self, levels, outputs, key, width=8):
                    *keys, last = jax.random.split(key, len(levels) + 1)
                    self.codes = [eqx.nn.Linear(n, width, key=k) for n, k in zip(levels, keys)]
                    self.readout = eqx.nn.Linear(width, outputs, key=last)

                def __call__(self, x):
                    parts = jnp.split(x, jnp.cumsum(jnp.array([c.in_features for c in self.codes]))[:-1].tolist())
                    return self.readout(jnp.stack([c(x) for c, x in zip(self.codes, parts)]).prod(0))

            # x: one-hot codes of the factors in a row; levels: how many each has
            net = Product(levels, y.shape[1], jax.random.key(0))
            """
        )
    return _lines(
        """
        from sklearn.linear_model import Ridge
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import PolynomialFeatures

        # numbers: (rows, factors), the levels. (Products of one-hot codes of unseen pairs never occur in training.)
        model = make_pipeline(PolynomialFeatures(2, interaction_only=True), Ridge(1e-3)).fit(numbers, y)
        """
    )


def partners(framework: str) -> str:
    """Where more partners help most."""
    return _lines(
        """
        cells = report.forecast.table().sort("retention")  # unseen cells, those that shrink most first
        print(cells.head(10))
        """
    )


def add_cells(framework: str) -> str:
    """The fewest cells that determine all others."""
    return _lines(
        """
        for cell in report.forecast.additions():  # collect examples of these, and train on them too
            print(cell)
        """
    )


def add_wrong_cells(framework: str) -> str:
    """Cells that are wrong, worst first."""
    return _lines(
        """
        worst = report.forecast.table().filter("wrong").sort("error", descending=True)
        print(worst.head(10))  # collect examples of some of these, and train on them too
        """
    )


def misled_cells(framework: str) -> str:
    """Cells about which a rewarded shortcut is wrong."""
    return _lines(
        """
        print(report.forecast.table().filter("misled"))  # collect examples of some of these, and train on them too
        """
    )


def flip_cells(framework: str) -> str:
    """The fewest labelled cells that turn the largest margin."""
    return _lines(
        """
        advice = report.forecast.advice
        for cell in advice.flip.cells if advice.flip else ():  # collect examples of these, and train on them too
            print(advice.table.describe(cell))
        """
    )


def squared_loss(framework: str) -> str:
    """Least squares on indicators."""
    if framework == "torch":
        return _lines(
            """
            import torch

            loss = ((net(x) - torch.nn.functional.one_hot(label, classes)) ** 2).mean()  # instead of cross_entropy
            """
        )
    if framework == "jax":
        return _lines(
            """
            import jax

            loss = ((jax.vmap(net)(x) - jax.nn.one_hot(label, classes)) ** 2).mean()  # instead of cross-entropy
            """
        )
    return _lines(
        """
        from sklearn.linear_model import RidgeClassifier

        model = RidgeClassifier(alpha=1e-2).fit(x, label)  # squared loss on the same features
        """
    )


def weighted_activity(framework: str) -> str:
    """The penalty in a training loop."""
    if framework == "torch":
        return _lines(
            """
            from recombine.torch import weighted_activity

            loss = loss + 1e-3 * weighted_activity(net, x)
            """
        )
    return _lines(
        """
        from recombine.remedies import cost

        loss = loss + 1e-3 * cost(net, x)  # an Equinox MLP or Sequential, or a net with stages
        """
    )


def compositional_contrast(framework: str) -> str:
    """The penalty on outputs that several parts reach."""
    if framework == "torch":
        return _lines(
            """
            from recombine.torch import compositional_contrast

            parts = x.reshape(len(x), slots, -1)  # (batch, slots, width)
            loss = loss + 1e-3 * compositional_contrast(lambda z: net(z.flatten(1)), parts)
            """
        )
    return _lines(
        """
        import jax
        import jax.numpy as jnp
        from recombine.probes.slots import contrast_of

        def contrast(one):  # of one row (slots, width)
            slopes = jax.jacfwd(lambda z: net(z.ravel()).ravel())(one)  # (outputs, slots, width)
            return contrast_of(jnp.sqrt((slopes**2).sum(-1) + 1e-12)[None]).mean()

        loss = loss + 1e-3 * jax.vmap(contrast)(x.reshape(len(x), slots, -1)).mean()
        """
    )


def cross_hessian(framework: str) -> str:
    """The penalty on second derivatives across parts."""
    if framework == "torch":
        return _lines(
            """
            from recombine.torch import cross_hessian

            parts = x.reshape(len(x), slots, -1)  # (batch, slots, width)
            loss = loss + 1e-3 * cross_hessian(lambda z: net(z.flatten(1)), parts).mean()
            """
        )
    return _lines(
        """
        import jax
        from recombine.remedies import cross_hessian_of

        parts = x.reshape(len(x), slots, -1)  # (batch, slots, width)
        decoder = lambda z: jax.vmap(net)(z.reshape(len(z), -1))
        loss = loss + 1e-3 * cross_hessian_of(decoder, parts, key=jax.random.key(0)).mean()
        """
    )
