"""Remedies that change the net: factors drawn one by one, or multiplied."""

from __future__ import annotations

from recombine.auditing.remedies.remedy import Remedy, lines


def forced_rendering(framework: str) -> Remedy:
    """For models that superpose images."""
    return Remedy(
        "forced_rendering",
        "draw each factor on its own before anything is combined (forced rendering)",
        "It carries the independence of the factors into the space where they are combined.",
        forced_rendering_code(framework),
    )


def interactions(framework: str) -> Remedy:
    """For models that only add."""
    return Remedy(
        "interactions",
        "let the factors meet in a product, of learned codes or of numbers",
        "The target depends on factors together, which no sum of their effects can express. Products of codes carry "
        "over to new pairs; hidden units on codes of all factors mostly learn the pairs that they saw.",
        interactions_code(framework),
    )


def forced_rendering_code(framework: str) -> str:
    """A net that draws each factor first, and its penalties."""
    if framework == "torch":
        return lines(
            """
            from recombine.torch import forced_rendering

            remedy = forced_rendering(levels)  # inputs: one-hot codes of the factors in a row
            loss = ((remedy.net(codes) - y) ** 2).mean() + remedy.penalty()
            """
        )
    return lines(
        """
        from recombine.remedies import forced_rendering

        remedy = forced_rendering(levels)  # remedy.net and remedy.penalties go into a Recipe and fit
        """
    )


def interactions_code(framework: str) -> str:
    """A net in which factors meet in a product."""
    if framework == "torch":
        return lines(
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
        return lines(
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
    return lines(
        """
        from sklearn.linear_model import Ridge
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import PolynomialFeatures

        # numbers: (rows, factors), the levels. (Products of one-hot codes of unseen pairs never occur in training.)
        model = make_pipeline(PolynomialFeatures(2, interaction_only=True), Ridge(1e-3)).fit(numbers, y)
        """
    )
