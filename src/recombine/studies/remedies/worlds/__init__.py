"""The worlds of the six papers that have seen and unseen cells, each small enough to be trained many times."""

from recombine.studies.evidence import Scale
from recombine.studies.remedies.failing_world import FailingWorld
from recombine.studies.remedies.worlds.bump_worlds import decoder_world, encoder_world
from recombine.studies.remedies.worlds.convolutional_world import convolutional_world
from recombine.studies.remedies.worlds.digit_world import film_world
from recombine.studies.remedies.worlds.function_worlds import composition_world, sine_world, wedge_world
from recombine.studies.remedies.worlds.gated_world import gated_world
from recombine.studies.remedies.worlds.line_scenes import line_scene_world
from recombine.studies.remedies.worlds.symbol_worlds import addition_world, associative_world, context_world
from recombine.studies.remedies.worlds.teacher_world import teacher_world

MAKERS = (
    decoder_world,
    convolutional_world,
    encoder_world,
    line_scene_world,
    addition_world,
    context_world,
    associative_world,
    sine_world,
    wedge_world,
    composition_world,
    film_world,
    teacher_world,
    gated_world,
)


def worlds(scale: Scale) -> tuple[FailingWorld, ...]:
    """All worlds at a scale, in the order of the matrix."""
    return tuple(make(scale) for make in MAKERS)


__all__ = ["MAKERS", "worlds"]
