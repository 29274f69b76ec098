"""All kinds of models in the zoo, by name, and what each of them shows.

A draw is kept if its truth, which is worked out for every single draw, is clear and is what the kind shows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.zoo import jax_kinds, linear_kinds, memory_kinds, odd_kinds, picture_kinds, torch_kinds
from benchmarks.zoo.sample import Sample
from benchmarks.zoo.truth import GROWS, NO_PATTERN, NOT_LEARNED, Truth

KINDS: dict[str, Callable[[np.random.Generator], Sample]] = {
    **linear_kinds.KINDS,
    **memory_kinds.KINDS,
    **torch_kinds.KINDS,
    **picture_kinds.KINDS,
    **jax_kinds.KINDS,
    **odd_kinds.KINDS,
}
COMPOSES = "composes"
_SHOWN = {
    COMPOSES: "ridge_sum linear_ordered ridge_scales log_ridge_sales spline_gam stumps_sum process_sum pairs_ridge "
    "logistic_scores logistic_one_row vector_machine_scores forest_one_factor product_net bilinear_net embedding_sum "
    "perceptron_sum perceptron_sum_sklearn circle_modular recurrent_sum decoder_parts decoder_parts_net "
    "classifier_fair additive_net_sum additive_net_labels noisy_oracle",
    "additive_only": "ridge_product stumps_product spline_product logistic_parity stumps_outputs perceptron_product "
    "additive_net_product",
    "memorisation_leak": "nearest_product nearest_modular nearest_labels forest_sales forest_table tree_product "
    "process_narrow kernel_cells vector_machine_sum second_output_stored",
    "shortcut": "one_column colour_bias recurrent_forgets classifier_biased",
    "superposition": "decoder_ridge decoder_net decoder_convolutions",
    NOT_LEARNED: "heavy_ridge forest_shallow barely_trained barely_trained_jax",
    NO_PATTERN: "random_features transformer_modular identifier_net wrong_labels hashed_labels hidden_batches "
    "half_of_levels offsets some_far_off reversed_effects mirrored",
    GROWS: "boosting_sales",
}
SHOWS = {name: truth for truth, names in _SHOWN.items() for name in names.split()}


def shows(kind: str, truth: Truth) -> bool:
    """Whether the truth of a draw is what its kind shows."""
    return truth.clear and SHOWS[kind] == (COMPOSES if truth.composes else truth.cause)
