"""Tasks: worlds that turn the cells of a space into inputs and targets."""

from recombine.tasks import datasets
from recombine.tasks.bump_images import bump_images
from recombine.tasks.bumps import bumps, bumps_on_canvas
from recombine.tasks.bumps_real import bumps_real, half_pixel_hole
from recombine.tasks.composites import composite_images
from recombine.tasks.compositions import composition, gaussian_wedge, random_composition
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
from recombine.tasks.exemplars import Exemplars, load_exemplars
from recombine.tasks.film_roll import film_roll
from recombine.tasks.glyphs import Glyph, glyph, glyph_source
from recombine.tasks.holes import split_by_hole
from recombine.tasks.interactions import InteractionTask, interaction_task
from recombine.tasks.lines import draw_lines, line_world
from recombine.tasks.mini_clevr import draw_clevr, mini_clevr, mirror_pixels
from recombine.tasks.modular import Sines, modular_task, sine_functions
from recombine.tasks.polynomials import PolynomialDecoder, polynomial_decoder
from recombine.tasks.resplit import with_random_hole
from recombine.tasks.reverse import reverse_bumps
from recombine.tasks.rotation import cross_fade, rotated, rotation_circle, rotation_digits, rotation_gap
from recombine.tasks.scene_task import SceneTask
from recombine.tasks.scenes import Scenes
from recombine.tasks.single_factor import (
    single_factor_positions,
    single_factor_renderings,
    single_factor_rows,
    with_stripes,
)
from recombine.tasks.sprites import PUBLISHED as PUBLISHED_SPRITES
from recombine.tasks.sprites import WIEDEMER as WIEDEMER_SPRITES
from recombine.tasks.sprites import draw_sprites, sprites
from recombine.tasks.supports import diagonal, in_l_shape, l_shaped, near_diagonal
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
from recombine.tasks.textures import random_features, with_feature_targets
from recombine.tasks.worlds import Attribute, World, scene_task

__all__ = [
    "PUBLISHED_SPRITES",
    "WIEDEMER_SPRITES",
    "Attribute",
    "Exemplars",
    "Glyph",
    "InteractionTask",
    "PolynomialDecoder",
    "SceneTask",
    "Scenes",
    "Sines",
    "Task",
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
    "composition",
    "context_dependence",
    "cross_fade",
    "datasets",
    "diagonal",
    "dispersed_addition",
    "draw_clevr",
    "draw_lines",
    "draw_sprites",
    "draw_with_replacement",
    "draw_without_replacement",
    "film_roll",
    "gaussian_wedge",
    "glyph",
    "glyph_source",
    "half_pixel_hole",
    "in_l_shape",
    "interaction_task",
    "invariance",
    "l_shaped",
    "line_world",
    "load_exemplars",
    "logical",
    "mini_clevr",
    "mirror_pixels",
    "modular_task",
    "near_diagonal",
    "one_hot",
    "partial_exposure",
    "polynomial_decoder",
    "ramp",
    "ramp_with_presence",
    "random_composition",
    "random_features",
    "reverse_bumps",
    "rotated",
    "rotation_circle",
    "rotation_digits",
    "rotation_gap",
    "scene_task",
    "sine_functions",
    "single_factor_positions",
    "single_factor_renderings",
    "single_factor_rows",
    "split_by_hole",
    "sprites",
    "super_inputs",
    "transitive_chain",
    "transitive_equivalence",
    "transitive_ordering",
    "transverse_patterning",
    "with_feature_targets",
    "with_random_hole",
    "with_stripes",
]
