"""Tasks: worlds that turn the cells of a space into inputs and targets."""

from recombine.tasks import datasets
from recombine.tasks.bumps.bump_images import bump_images
from recombine.tasks.bumps.grid_positions import bumps, bumps_on_canvas
from recombine.tasks.bumps.real_positions import bumps_real, half_pixel_hole
from recombine.tasks.bumps.reverse import reverse_bumps
from recombine.tasks.bumps.single_factor import (
    single_factor_positions,
    single_factor_renderings,
    single_factor_rows,
    with_stripes,
)
from recombine.tasks.draws import draw_with_replacement, draw_without_replacement
from recombine.tasks.encodings import (
    angle_cos_sin,
    angle_scalar,
    bump_code,
    one_hot,
    ramp,
    ramp_with_presence,
    super_inputs,
)
from recombine.tasks.functions.polynomials import PolynomialDecoder, polynomial_decoder
from recombine.tasks.functions.slot_functions import InteractionTask, interaction_task
from recombine.tasks.images.composites import composite_images
from recombine.tasks.images.exemplars import Exemplars, load_exemplars
from recombine.tasks.modular import Sines, modular_task, sine_functions
from recombine.tasks.resplit import with_random_hole
from recombine.tasks.scenes.line_world import draw_lines, line_world
from recombine.tasks.scenes.scene_arrays import Scenes
from recombine.tasks.scenes.scene_task import SceneTask
from recombine.tasks.scenes.sprites import PUBLISHED as PUBLISHED_SPRITES
from recombine.tasks.scenes.sprites import WIEDEMER as WIEDEMER_SPRITES
from recombine.tasks.scenes.sprites import draw_sprites, sprites
from recombine.tasks.scenes.worlds import Attribute, World, scene_task
from recombine.tasks.symbolic import (
    addition,
    context_dependence,
    dispersed_addition,
    invariance,
    logical,
    partial_exposure,
    transitive_chain,
    transitive_equivalence,
    transitive_ordering,
    transverse_patterning,
)
from recombine.tasks.task import Task
from recombine.tasks.teachers.pairs import TeacherPair, diagonal_teachers, relu_teachers
from recombine.tasks.teachers.rows import pooled_task, sphere_inputs, teacher_task
from recombine.tasks.teachers.teacher import Teacher

__all__ = [
    "PUBLISHED_SPRITES",
    "WIEDEMER_SPRITES",
    "Attribute",
    "Exemplars",
    "InteractionTask",
    "PolynomialDecoder",
    "SceneTask",
    "Scenes",
    "Sines",
    "Task",
    "Teacher",
    "TeacherPair",
    "World",
    "addition",
    "angle_cos_sin",
    "angle_scalar",
    "bump_code",
    "bump_images",
    "bumps",
    "bumps_on_canvas",
    "bumps_real",
    "composite_images",
    "context_dependence",
    "datasets",
    "diagonal_teachers",
    "dispersed_addition",
    "draw_lines",
    "draw_sprites",
    "draw_with_replacement",
    "draw_without_replacement",
    "half_pixel_hole",
    "interaction_task",
    "invariance",
    "line_world",
    "load_exemplars",
    "logical",
    "modular_task",
    "one_hot",
    "partial_exposure",
    "polynomial_decoder",
    "pooled_task",
    "ramp",
    "ramp_with_presence",
    "relu_teachers",
    "reverse_bumps",
    "scene_task",
    "sine_functions",
    "single_factor_positions",
    "single_factor_renderings",
    "single_factor_rows",
    "sphere_inputs",
    "sprites",
    "super_inputs",
    "teacher_task",
    "transitive_chain",
    "transitive_equivalence",
    "transitive_ordering",
    "transverse_patterning",
    "with_random_hole",
    "with_stripes",
]
