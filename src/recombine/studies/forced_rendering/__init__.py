"""Liang, Qian, Ziyin & Fiete 2025: compositional generalisation via forced rendering of disentangled latents."""

from recombine.runs import Trial
from recombine.studies.forced_rendering.arms import arms
from recombine.studies.forced_rendering.claims import CLAIMS, SOURCES
from recombine.studies.forced_rendering.figures import DRAWINGS
from recombine.studies.study import Study


def cost(trial: Trial) -> float:
    """A rough number of seconds on one core, from the size of the net and the length of training."""
    if trial.net is None or trial.recipe is None:
        return 2.0
    settings = dict(trial.net.settings)
    name = trial.net.name.rpartition(":")[2]
    width, depth = settings.get("width", 128), settings.get("depth", 2)
    rows = dict(trial.task.settings).get("train") or 500
    steps = trial.recipe.steps_for(rows)
    pixels = settings.get("size")
    size = (pixels if isinstance(pixels, int) else 28) / 28  # a render net draws each factor at its own size
    per_step = {
        "cnn_decoder": 0.07 * (width / 32) ** 1.4 * depth / 4 * size**2,
        "mlp": 0.0008 + 0.0014 * (width / 256) ** 2,
        "render_net": 0.006,
        "spatial_mlp": 0.05 * (width / 128) ** 2 * depth,
        "pixel_transformer": 0.3 * depth * size**4 * (1 + settings.get("hidden", 2048) / 1024),
        "rotation_decoder": 0.05 * (width / 64) ** 2,
        "cnn_encoder": 0.009,
    }.get(name, 0.01)
    return 3.0 + per_step * steps * len(trial.seeds)


STUDY = Study(
    name="forced-rendering",
    title="Compositional generalisation via forced rendering of disentangled latents",
    reference="Liang, Qian, Ziyin & Fiete, ICML 2025, arXiv:2501.18797",
    arms=arms,
    claims=CLAIMS,
    sources=SOURCES,
    drawings=DRAWINGS,
    cost=cost,
)
