"""Convolutions whose three passes (output, input gradient, weight gradient) are fast on a CPU.

XLA's own convolution is quick forwards on a CPU, but its gradients are several times slower than PyTorch's
and ten times slower again inside `lax.scan`; a transposed convolution by `lhs_dilation` is hopeless. On an
accelerator this module calls `lax.conv_general_dilated` and nothing else. On a CPU every convolution becomes
matrix products, by a route that `_correlate` chooses from the shapes:

| channels | route |
|---|---|
| few in and out (rendering head, 2 to 2) | patches as planes `(taps, batch · height · width)`, one product |
| few out (last layer of a decoder) | one product, then the taps shifted and added |
| small patches, as 3 × 3 of 16 channels (first layer of an encoder) | patches, then one product |
| many, kernels of 2 to 5 | Winograd: transform tiles, one product per evaluation point, transform back |
| many, longer kernels | `lax.conv_general_dilated` (right, not fast) |

A transposed convolution with stride s is one with stride 1 whose channels then unfold into s × s blocks. So
the 4 × 4 kernel with stride 2 of the decoders is a 2 × 2 kernel with four times the output channels. A
convolution with a stride takes every s-th patch and one product: half the time of the encoders' Winograd
route after blocks of pixels have become channels, whose kernels are then one third zeros.

**Winograd (Toom-Cook) convolution.** A product of polynomials is known from its values at a few points. With
n points, n - k + 1 outputs of a kernel of length k need n multiplications instead of k (n - k + 1); in two
dimensions 2.25 for each output instead of 9 if k = 3 and n = 6, and 4 instead of 25 if k = 5 and n = 8. Both
transforms and their gradients are the same two adjoint maps, `_analyse` (cut tiles, combine) and `_synthesise`
(combine, add tiles). Float32 results are within about 1e-5 of the largest value. Lavin and Gray (2016), https://arxiv.org/abs/1509.09308.

CPU time of a whole AdamW step at batch 32 inside `lax.scan`, as a ratio to PyTorch eager in the same minute
(one core of a busy machine; median, all runs):

| | decoder, width 64 | decoder, width 32 | rendering head |
|---|---|---|---|
| this module | 0.59, 0.53 to 0.81 | 0.75, 0.62 to 0.84 | 0.29, 0.25 to 0.36 |
| 6 points for k = 2 as well, last layer's taps added in NHWC | 0.83, 0.69 to 1.10 | 0.98, 0.97 to 1.03 | |
| the same but the last layer, 4 images at a time | 0.97, 0.74 to 1.01 | 1.18, 1.11 to 1.21 | |
| shifted multiply-adds, automatic gradients | | | 0.61, 0.58 to 0.61 |

The Winograd route has no forward mode (`jax.jvp`): for that there is `forward_differentiable`. A layer with its
gradients compiles in 2 to 4 s.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import lru_cache, partial, reduce
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from recombine.errors import InputError

Images = Float[Array, "batch height width channels"]
Kernel = Float[Array, "kernel_height kernel_width c_in c_out"]

_FEW = 4  # channels; below this a product over channels alone is too thin to be worth a transform
_NOT_MANY = 144  # values of a patch; up to this patches cost no more than transforms, and compile faster
_POINTS = {2: 4, 3: 6, 4: 6, 5: 8}  # evaluation points for each kernel length that Winograd serves
_INPUT, _KERNEL, _OUTPUT = range(3)  # the transforms of `_toom_cook`
_LAYOUT = ("NHWC", "HWIO", "NHWC")


def conv2d(x: Images, weight: Kernel, *, stride: int = 1, padding: int, plain: bool = False) -> Images:
    """Convolves images `(batch, height, width, c_in)` as PyTorch's `conv2d` does.

    **Arguments:**

    - `weight`: kernel `(kernel_height, kernel_width, c_in, c_out)`.
    - `stride`, `padding`: the same along both axes.
    - `plain`: leave it to XLA, which knows forward-mode derivatives.

    **Returns:** images `(batch, *size, c_out)` with `size = (input + 2 padding - kernel) // stride + 1`.
    """
    _check(x, weight, stride, padding)
    size = [(n + 2 * padding - k) // stride + 1 for n, k in zip(x.shape[1:3], weight.shape[:2], strict=True)]
    if min(size) < 1:
        raise InputError("x", x.shape, f"images at least as large as the kernel {weight.shape[:2]}")
    if plain or jax.default_backend() != "cpu":
        pads = [(padding, padding)] * 2
        return lax.conv_general_dilated(x, weight, (stride, stride), pads, dimension_numbers=_LAYOUT)
    if stride == 1:
        return _correlate(x, weight, [padding, padding], size)
    kh, kw, _, c_out = weight.shape
    x = _fit(x, [padding, padding], [stride * (n - 1) + k for n, k in zip(size, (kh, kw), strict=True)])
    ends = [stride * (n - 1) + 1 for n in size]
    patches = [x[:, i : i + ends[0] : stride, j : j + ends[1] : stride] for i in range(kh) for j in range(kw)]
    return jnp.concatenate(patches, axis=3) @ weight.reshape(-1, c_out)


def conv_transpose2d(
    x: Images, weight: Kernel, *, stride: int = 1, padding: int, plain: bool = False
) -> Images:
    """Spreads each pixel of `(batch, height, width, c_in)` by the kernel, as PyTorch's does.

    **Arguments:**

    - `weight`: kernel `(kernel_height, kernel_width, c_in, c_out)`.
    - `stride`: distance in the output between the kernels of neighbouring pixels.
    - `padding`: rows and columns cut off on each side of the full result.
    - `plain`: as for `conv2d`.

    **Returns:** images `(batch, *size, c_out)` with `size = (input - 1) stride - 2 padding + kernel`.
    """
    _check(x, weight, stride, padding)
    kernel, c_out = weight.shape[:2], weight.shape[3]
    size = [(n - 1) * stride - 2 * padding + k for n, k in zip(x.shape[1:3], kernel, strict=True)]
    if min(size) < 1:
        raise InputError("padding", padding, f"a smaller number (it leaves an output of {size})")
    if plain or jax.default_backend() != "cpu":
        around = [(k - 1 - padding, k - 1 - padding) for k in kernel]
        flipped, dilation = weight[::-1, ::-1], (stride, stride)
        return lax.conv_general_dilated(x, flipped, (1, 1), around, dilation, dimension_numbers=_LAYOUT)
    if x.shape[1:3] == (1, 1):
        y = jnp.einsum("nc,hwcd->nhwd", x[:, 0, 0], weight)
        return y[:, padding : padding + size[0], padding : padding + size[1]]
    taps = _whole_strides(weight, stride)[::-1, :, ::-1].transpose(0, 2, 4, 1, 3, 5)
    taps = taps.reshape(*taps.shape[:3], stride**2 * c_out)
    skip, cut = divmod(padding, stride)
    blocks = [-(-(cut + n) // stride) for n in size]
    y = _correlate(x, taps, [t - 1 - skip for t in taps.shape[:2]], blocks)
    y = y.reshape(len(x), *blocks, stride, stride, c_out).transpose(0, 1, 3, 2, 4, 5)
    y = y.reshape(len(x), blocks[0] * stride, blocks[1] * stride, c_out)
    return y[:, cut : cut + size[0], cut : cut + size[1]]


def _check(x: Images, weight: Kernel, stride: int, padding: int) -> None:
    if x.ndim != 4:
        raise InputError("x", x.shape, "a batch of images (batch, height, width, channels)")
    if weight.ndim != 4 or weight.shape[2] != x.shape[3]:
        raise InputError("weight", weight.shape, f"(kernel_height, kernel_width, {x.shape[3]}, c_out)")
    if stride < 1 or padding < 0:
        raise InputError("stride, padding", (stride, padding), "at least 1 and at least 0")


def _whole_strides(weight: Kernel, stride: int) -> Array:
    """The kernel with zeros appended to whole strides: `(taps, stride, taps, stride, c_in, c_out)`."""
    taps = [-(-k // stride) for k in weight.shape[:2]]
    whole = _fit(weight[None], [0, 0], [stride * t for t in taps])
    return whole.reshape(taps[0], stride, taps[1], stride, *weight.shape[2:])


def _fit(x: Array, low: Sequence[int], size: Sequence[int]) -> Array:
    """Pads axes 1 and 2 with `low` zeros before the first pixel; pads or crops after the last, to `size`."""
    edges = [(b, n - m - b, 0) for b, n, m in zip(low, size, x.shape[1:3], strict=True)]
    return lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, 0), *edges, *[(0, 0, 0)] * (x.ndim - 3)])


def _correlate(x: Images, weight: Kernel, low: Sequence[int], size: Sequence[int]) -> Images:
    """`y[t] = Σ_i x[t + i - low] weight[i]` for `t < size`, with zeros outside of `x`."""
    kh, kw, c_in, c_out = weight.shape
    shifts = [(slice(i, i + size[0]), slice(j, j + size[1])) for i in range(kh) for j in range(kw)]
    fitted = [size[0] + kh - 1, size[1] + kw - 1]
    if c_in <= _FEW and c_out <= _FEW:
        planes = _fit(x, low, fitted).transpose(3, 0, 1, 2)
        patches = jnp.stack([planes[:, :, i, j] for i, j in shifts])  # (taps, c_in, batch, height, width)
        y = weight.reshape(-1, c_out).T @ patches.reshape(kh * kw * c_in, -1)
        return y.reshape(c_out, len(x), *size).transpose(1, 2, 3, 0)
    if c_out <= _FEW:
        mixed = x.reshape(-1, c_in) @ weight.transpose(2, 0, 1, 3).reshape(c_in, -1)
        planes = mixed.T.reshape(kh * kw * c_out, *x.shape[:3]).transpose(1, 2, 3, 0)
        planes = _fit(planes, low, fitted).reshape(len(x), *fitted, kh * kw, c_out)
        return reduce(jnp.add, [planes[:, i, j, tap] for tap, (i, j) in enumerate(shifts)])
    if kh * kw * c_in <= _NOT_MANY or kh == kw == 1:
        x = _fit(x, low, fitted)
        return jnp.concatenate([x[:, i, j] for i, j in shifts], axis=3) @ weight.reshape(-1, c_out)
    if kh in _POINTS and kw in _POINTS:
        return _winograd(x, weight, low, size)
    return lax.conv_general_dilated(_fit(x, low, fitted), weight, (1, 1), "VALID", dimension_numbers=_LAYOUT)


@lru_cache
def _toom_cook(kernel: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Transforms of an input tile, of the kernel and of an output tile: `(points, length)` each.

    The points are 0, 1, -1, 2, -2, 1/2, -1/2 (as many as are needed) and infinity. For an input tile d and a kernel g
    the outputs are `out.T @ ((ker @ g) * (inp @ d))`.
    """
    n = _POINTS[kernel]
    finite = np.array([0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5][: n - 1])
    inp, scale = np.zeros((n, n)), np.ones((n, 1))
    for i, point in enumerate(finite):
        others = np.delete(finite, i)
        inp[i, : n - 1] = np.poly(others)[::-1]
        scale[i] = 1 / np.prod(point - others)
    inp[-1] = np.poly(finite)[::-1]

    def powers(length: int) -> np.ndarray:
        return np.vstack([finite[:, None] ** np.arange(length), np.eye(length)[-1]])

    return inp, scale * powers(kernel), powers(_step(kernel))


def _step(kernel: int) -> int:
    return _POINTS[kernel] - kernel + 1  # outputs of one tile


def _winograd(x: Images, weight: Kernel, low: Sequence[int], size: Sequence[int]) -> Images:
    kh, kw, c_in, c_out = weight.shape
    tiles = [-(-n // _step(k)) for n, k in zip(size, (kh, kw), strict=True)]
    x = _fit(x, low, [t * _step(k) + k - 1 for t, k in zip(tiles, (kh, kw), strict=True)])
    values = _analyse(x, (kh, kw), _INPUT)  # (points, batch, tiles, tiles, c_in)
    transform = jnp.asarray(np.kron(_toom_cook(kh)[_KERNEL], _toom_cook(kw)[_KERNEL]), weight.dtype)
    at_points = (transform @ weight.reshape(kh * kw, -1)).reshape(-1, c_in, c_out)
    products = values.reshape(len(values), -1, c_in) @ at_points
    y = _synthesise(products.reshape(*values.shape[:-1], c_out), (kh, kw), _OUTPUT)
    return y[:, : size[0], : size[1]]


def _combine(matrix: np.ndarray, arrays: Sequence[Array]) -> list[Array]:
    """`Σ_j matrix[i, j] arrays[j]` for each i, written out so that XLA makes one loop of each sum."""
    rows = ([(m, a) for m, a in zip(row, arrays, strict=True) if m] for row in matrix.tolist())
    return [reduce(jnp.add, [a if m == 1 else -a if m == -1 else m * a for m, a in row]) for row in rows]


@partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def _analyse(x: Images, kernel: tuple[int, int], which: int) -> Array:
    """Cuts `x` into (overlapping) tiles, one each `_step`, and takes the values of each at the points.

    **Returns:** `(points_height · points_width, batch, tiles_height, tiles_width, channels)`.
    """

    def along(axis: int, array: Array) -> list[Array]:
        matrix, step = _toom_cook(kernel[axis - 1])[which], _step(kernel[axis - 1])
        length, width = array.shape[axis], matrix.shape[1]
        pixels = [lax.slice_in_dim(array, i, length - width + 1 + i, step, axis) for i in range(width)]
        return _combine(matrix, pixels)

    return jnp.stack([value for row in along(1, x) for value in along(2, row)])


@partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def _synthesise(values: Array, kernel: tuple[int, int], which: int) -> Images:
    """The adjoint of `_analyse`: combines with the transposed matrices, adds the tiles where they overlap."""
    step = [_step(k) for k in kernel]
    matrices = [_toom_cook(k)[which] for k in kernel]
    size = [m * (t - 1) + a.shape[1] for m, t, a in zip(step, values.shape[2:4], matrices, strict=True)]

    def along(axis: int, arrays: Sequence[Array]) -> list[Array]:  # the tiles are on axis 2 of the arrays
        pixels = _combine(matrices[axis].T, arrays)
        steps = -(-size[axis] // step[axis])
        placed = [_fit(p, [0, i // step[axis]], [p.shape[1], steps]) for i, p in enumerate(pixels)]
        return [reduce(jnp.add, placed[phase :: step[axis]]) for phase in range(step[axis])]

    values = values.reshape(len(matrices[0]), len(matrices[1]), *values.shape[1:])
    y = jnp.stack([jnp.stack(along(1, list(row))) for row in along(0, list(values))])
    batch, high, wide, channels = y.shape[2:]
    y = y.transpose(2, 3, 0, 4, 1, 5).reshape(batch, high * step[0], wide * step[1], channels)
    return y[:, : size[0], : size[1]]


_analyse.defvjp(
    lambda x, *how: (_analyse(x, *how), None),
    lambda kernel, which, _, gradient: (_synthesise(gradient, kernel, which),),
)
_synthesise.defvjp(
    lambda values, *how: (_synthesise(values, *how), None),
    lambda kernel, which, _, gradient: (_analyse(gradient, kernel, which),),
)


class _Convolution(eqx.Module):
    """Weights, biases and geometry; both start uniform in ±1/sqrt(fan · kernel²), as in PyTorch."""

    weight: Kernel
    bias: Float[Array, " c_out"] | None
    stride: int = eqx.field(static=True)
    padding: int = eqx.field(static=True)
    plain: bool = eqx.field(static=True)

    def __init__(
        self,
        shape: tuple[int, int, int, int],
        fan: int,
        *,
        stride: int = 1,
        padding: int = 0,
        bias: bool = True,
        key: PRNGKeyArray,
    ) -> None:
        bound = 1 / math.sqrt(fan * shape[0] * shape[1])
        weight_key, bias_key = jax.random.split(key)
        self.weight = jax.random.uniform(weight_key, shape, minval=-bound, maxval=bound)
        self.bias = jax.random.uniform(bias_key, shape[3:], minval=-bound, maxval=bound) if bias else None
        self.stride, self.padding, self.plain = stride, padding, False

    def _how(self) -> dict[str, Any]:
        return {"stride": self.stride, "padding": self.padding, "plain": self.plain}

    def _shifted(self, x: Images) -> Images:
        return x if self.bias is None else x + self.bias


class Conv2d(_Convolution):
    """A convolution, by default with bias; `stride` and `padding` as for `conv2d`. PyTorch's fan-in is c_in."""

    def __init__(self, c_in: int, c_out: int, kernel: int, *, key: PRNGKeyArray, **geometry: Any) -> None:
        super().__init__((kernel, kernel, c_in, c_out), c_in, key=key, **geometry)

    def __call__(self, x: Images, *, key: PRNGKeyArray | None = None) -> Images:
        """Returns `(batch, out_height, out_width, c_out)`; `key` is ignored."""
        return self._shifted(conv2d(x, self.weight, **self._how()))


class ConvTranspose2d(_Convolution):
    """A transposed convolution, by default with bias, geometry as for `conv_transpose2d`. PyTorch's fan-in is c_out."""

    def __init__(self, c_in: int, c_out: int, kernel: int, *, key: PRNGKeyArray, **geometry: Any) -> None:
        super().__init__((kernel, kernel, c_in, c_out), c_out, key=key, **geometry)

    def __call__(self, x: Images, *, key: PRNGKeyArray | None = None) -> Images:
        """Returns `(batch, out_height, out_width, c_out)`; `key` is ignored."""
        return self._shifted(conv_transpose2d(x, self.weight, **self._how()))


def forward_differentiable(net: PyTree) -> PyTree:
    """The same net with convolutions that have forward-mode derivatives, at the price of slower gradients on a CPU.

    ```python
    >>> import jax, jax.numpy as jnp
    >>> from recombine.nets import Conv2d
    >>> from recombine.nets.layers.convolution import forward_differentiable
    >>> layer = forward_differentiable(Conv2d(32, 32, 3, padding=1, key=jax.random.key(0)))
    >>> x = jnp.ones((1, 8, 8, 32))
    >>> jax.jvp(layer, (x,), (x,))[1].shape
    (1, 8, 8, 32)

    ```
    """

    def change(node: Any) -> Any:
        return _as_plain(node) if isinstance(node, _Convolution) else node

    return jax.tree.map(change, net, is_leaf=lambda node: isinstance(node, _Convolution))


def _as_plain(layer: _Convolution) -> _Convolution:
    """A copy that leaves convolution to XLA; static fields are out of reach for `equinox.tree_at`."""
    copy = object.__new__(type(layer))
    for field in dataclasses.fields(layer):
        object.__setattr__(copy, field.name, getattr(layer, field.name))
    object.__setattr__(copy, "plain", True)
    return copy
