"""Remedies that change training: another loss, a penalty, or smaller weights at its start."""

from __future__ import annotations

from recombine.auditing.refits import Refit
from recombine.auditing.remedies.remedy import Remedy, lines
from recombine.report import number


def train_longer() -> Remedy:
    """For models that have not learned the seen cells."""
    return Remedy(
        "train_longer",
        "train until the seen combinations are right",
        "The model has not learned the seen combinations yet, so whether it composes cannot be judged.",
        "",
    )


def nothing_known(refit: Refit, constant: float) -> Remedy:
    """For data in which no simple model predicts cells that it was not fitted to."""
    errors = f"has an error of {number(refit.held_out.value)} on seen cells left out, a constant {number(constant)}"
    best = (
        " any better than a constant" if refit.name == "constant" else f": the best ({refit.title}) {errors}"
    )
    return Remedy(
        "nothing_known",
        "train on the combinations that you need, or on inputs that say more about them",
        f"No simple model predicts cells that it was not fitted to{best}.",
        "",
    )


def squared_loss(framework: str) -> Remedy:
    """For splits on which the largest margin is wrong."""
    return Remedy(
        "squared_loss",
        "use squared loss instead of cross-entropy",
        "On this split maximum margin, the limit of training with cross-entropy, gets unseen cells wrong; squared "
        "loss gets them right.",
        squared_loss_code(framework),
    )


def weighted_activity(framework: str) -> Remedy:
    """For nets whose weights are mixed."""
    return Remedy(
        "weighted_activity",
        "add the weighted-activity penalty, which leads to modules",
        "The weights connect everything with everything; parts that are computed separately can be recombined.",
        weighted_activity_code(framework),
    )


def compositional_contrast(framework: str) -> Remedy:
    """For decoders with kinks, whose second derivatives are zero almost everywhere."""
    return Remedy(
        "compositional_contrast",
        "penalise outputs that depend on several slots of the input",
        "Slots that draw different outputs can be exchanged one by one. (This model has kinks, as ReLU nets do, so a "
        "penalty on second derivatives would do nothing.)",
        compositional_contrast_code(framework),
    )


def cross_hessian(framework: str) -> Remedy:
    """For smooth decoders."""
    return Remedy(
        "cross_hessian",
        "penalise interaction across slots of the input",
        "Slots whose effects do not depend on each other can be exchanged one by one.",
        cross_hessian_code(framework),
    )


def rescale_weights(framework: str) -> Remedy:
    """For finetuned models that kept everything they knew."""
    return Remedy(
        "rescale_weights",
        "shrink the pretrained weights before finetuning",
        "Finetuning kept the representation as it was. With smaller weights it selects what the new task needs, which "
        "takes fewer rows (Lippl & Lindsey 2024). Try 0.5, 0.25 and 0.125 on a validation split.",
        rescale_code(framework),
    )


def squared_loss_code(framework: str) -> str:
    """Least squares on indicators."""
    if framework == "torch":
        return lines(
            """
            import torch

            loss = ((net(x) - torch.nn.functional.one_hot(label, classes)) ** 2).mean()  # instead of cross_entropy
            """
        )
    if framework == "jax":
        return lines(
            """
            import jax

            loss = ((jax.vmap(net)(x) - jax.nn.one_hot(label, classes)) ** 2).mean()  # instead of cross-entropy
            """
        )
    return lines(
        """
        from sklearn.linear_model import RidgeClassifier

        model = RidgeClassifier(alpha=1e-2).fit(x, label)  # squared loss on the same features
        """
    )


def weighted_activity_code(framework: str) -> str:
    """The penalty in a training loop."""
    if framework == "torch":
        return lines(
            """
            from recombine.torch import weighted_activity

            loss = loss + 1e-3 * weighted_activity(net, x)
            """
        )
    return lines(
        """
        from recombine.remedies import weighted_activity

        loss = loss + 1e-3 * weighted_activity(net, x)  # an Equinox MLP or Sequential, or a net with stages
        """
    )


def compositional_contrast_code(framework: str) -> str:
    """The penalty on outputs that several parts reach."""
    if framework == "torch":
        return lines(
            """
            from recombine.torch import compositional_contrast

            parts = x.reshape(len(x), slots, -1)  # (batch, slots, width)
            loss = loss + 1e-3 * compositional_contrast(lambda z: net(z.flatten(1)), parts)
            """
        )
    return lines(
        """
        import jax
        from recombine.remedies import compositional_contrast

        parts = x.reshape(len(x), slots, -1)  # (batch, slots, width)
        decoder = lambda z: jax.vmap(net)(z.reshape(len(z), -1))
        loss = loss + 1e-3 * compositional_contrast(decoder, parts)
        """
    )


def cross_hessian_code(framework: str) -> str:
    """The penalty on second derivatives across parts."""
    if framework == "torch":
        return lines(
            """
            from recombine.torch import cross_hessian

            parts = x.reshape(len(x), slots, -1)  # (batch, slots, width)
            loss = loss + 1e-3 * cross_hessian(lambda z: net(z.flatten(1)), parts)
            """
        )
    return lines(
        """
        import jax
        from recombine.remedies import cross_hessian

        parts = x.reshape(len(x), slots, -1)  # (batch, slots, width)
        decoder = lambda z: jax.vmap(net)(z.reshape(len(z), -1))
        loss = loss + 1e-3 * cross_hessian(decoder, parts, key=jax.random.key(0))
        """
    )


def rescale_code(framework: str) -> str:
    """A smaller copy of the pretrained model."""
    where = "recombine.torch" if framework == "torch" else "recombine.remedies"
    return lines(
        f"""
        from {where} import rescale

        net = rescale(net, 0.25)  # the pretrained net; then finetune it as before
        """
    )
