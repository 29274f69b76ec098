"""Tasks of latents in slots, seen through a generator with known interactions between slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.errors import InputError
from recombine.spaces import Space, Split
from recombine.spaces.holes import split_by_hole
from recombine.spaces.supports import Support, centres, in_l_shape, near_diagonal
from recombine.tasks.draws import generator
from recombine.tasks.functions.polynomials import PolynomialDecoder, SlotFunctions, polynomial_decoder
from recombine.tasks.task import Kind, Task


@dataclass(frozen=True, init=False, eq=False, repr=False)
class InteractionTask(Task):
    """A `Task` of autoencoding the outputs of a known generator: `inputs` and `targets` are `decoder(latents)`.

    **Attributes:**

    - `decoder`: the generator, with its slots.
    """

    decoder: PolynomialDecoder

    def __init__(
        self,
        split: Split,
        inputs: np.ndarray | None = None,
        targets: np.ndarray | None = None,
        kind: Kind = "regression",
        cell: np.ndarray | None = None,
        train: np.ndarray | None = None,
        latents: np.ndarray | None = None,
        blank: float = 0.0,
        *,
        decoder: PolynomialDecoder,
    ) -> None:
        if latents is None:
            raise InputError("latents", None, "the latents of every row")
        outputs = decoder(np.asarray(latents))
        inputs = outputs if inputs is None else inputs
        targets = outputs if targets is None else targets
        super().__init__(split, inputs, targets, kind, cell, train, latents, blank)
        object.__setattr__(self, "decoder", decoder)

    def cell_of(self, latents: Float[np.ndarray, "n latents"]) -> Int[np.ndarray, " n"]:
        """The cells of any latents, which need not be rows of the task."""
        sizes = np.array(self.split.space.shape)
        levels = np.clip(np.floor((latents + 1) / 2 * sizes), 0, sizes - 1).astype(int)
        return self.split.space.index(levels)

    def __repr__(self) -> str:
        return f"InteractionTask({super().__repr__()[len('Task(') :]}"


def interaction_task(
    *,
    slots: Sequence[int] = (2, 2),
    outputs: int = 20,
    order: int = 1,
    functions: SlotFunctions = "sine",
    coupling: float = 1.0,
    rows: int = 10_000,
    test: int = 1000,
    support: Support = None,
    bins: int = 2,
    delta: float = 0.2,
    draw: int | None = None,
    seed: int = 0,
) -> InteractionTask:
    """Latents that are uniform in [-1, 1] on a support, and a random generator's outputs for them.

    Factors are the latents, cut into bins.

    **Arguments:**

    - `slots`, `outputs`, `order`, `functions`, `coupling`: of the generator, see `polynomial_decoder`.
    - `rows`: for training; `test`: further ones of seen cells, and of unseen cells if there are any.
    - `support`: `"l-shaped"` leaves out the corner where the first latent of every slot is in its upper half,
        `"diagonal"` shows cells within `delta` of the diagonal of equal slots (of the unit cube); a hole, or `None`.
    - `draw`: seed of the generator; `None` takes `seed`.

    ```python
    >>> from recombine.tasks import interaction_task
    >>> task = interaction_task(order=2, rows=500, test=100, support="l-shaped")
    >>> task.inputs.shape, len(task.train), len(task.test_in), len(task.rows_out)
    ((700, 20), 500, 100, 100)
    >>> float(task.latents[task.rows_out][:, [0, 2]].min()) > 0
    True

    ```
    """
    for field, value, minimum in (("rows", rows, 1), ("test", test, 0), ("bins", bins, 2)):
        if value < minimum:
            raise InputError(field, value, f"a whole number, at least {minimum}")
    decoder = polynomial_decoder(
        slots,
        outputs=outputs,
        order=order,
        functions=functions,
        coupling=coupling,
        seed=seed if draw is None else draw,
    )
    names = [f"slot {k + 1} latent {i + 1}" for k, slot in enumerate(decoder.slots) for i in range(len(slot))]
    split = _split(Space(dict.fromkeys(names, bins)), decoder, support, delta)
    rng = generator(seed)
    samples = [_sample_in_cells(split, split.seen, rows + test, rng)]
    if split.unseen.any() and test:
        samples.append(_sample_in_cells(split, split.unseen, test, rng))
    cell, unit = (np.concatenate(parts) for parts in zip(*samples, strict=True))
    return InteractionTask(split, cell=cell, train=np.arange(rows), latents=2 * unit - 1, decoder=decoder)


def _split(space: Space, decoder: PolynomialDecoder, support: Support, delta: float) -> Split:
    if not isinstance(support, str):
        return split_by_hole(space, support)
    seen: Bool[np.ndarray, " cells"]
    if support == "l-shaped":
        seen = in_l_shape(centres(space)[:, [slot[0] for slot in decoder.slots]])
    elif support == "diagonal":
        sizes = {len(slot) for slot in decoder.slots}
        if len(sizes) > 1 or len(decoder.slots) < 2:
            raise InputError("support", support, "at least two slots, all of one size, for a diagonal")
        seen = near_diagonal(centres(space).reshape(space.n_cells, len(decoder.slots), -1), delta)
    else:
        raise InputError("support", support, "'l-shaped', 'diagonal', a hole or None")
    return Split(space, seen)


def _sample_in_cells(
    split: Split, mask: Bool[np.ndarray, " cells"], count: int, rng: np.random.Generator
) -> tuple[Int[np.ndarray, " count"], Float[np.ndarray, "count latents"]]:
    """Cells of the mask with equal probability, and points of the unit cube that are uniform in them."""
    cell = rng.choice(np.flatnonzero(mask), size=count)
    within = rng.random((count, len(split.space.shape)))
    return cell, (split.space.cells[cell] + within) / np.array(split.space.shape)
