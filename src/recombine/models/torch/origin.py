"""Which tensors still belong to the input, and which are the activity of hidden units."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakTensorKeyDictionary

from recombine.models.torch.tensors import tensors


class Origin(TorchFunctionMode):
    """Follows every operation: what is computed from inputs and constants alone is still input.

    A flattened, scaled or sliced input is not hidden activity, nor is a fixed function of it; everything that
    a parameter took part in is. Gradients play no role, so this also holds without gradients and for frozen layers.
    """

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        """How many module calls are in progress."""
        self._is_input: MutableMapping[Tensor, bool] = WeakTensorKeyDictionary()

    def enter(self, module: nn.Module, inputs: Any) -> None:
        """A module call begins; inputs of an outermost one are inputs unless they were computed from parameters."""
        if self.depth == 0:
            for tensor in (*tensors(inputs), *module.buffers()):
                self._is_input[tensor] = self.is_input(tensor)
        self.depth += 1

    def leave(self) -> None:
        """It ends."""
        self.depth -= 1

    def is_input(self, tensor: Tensor) -> bool:
        """Whether no parameter had a part in this tensor.

        Of a tensor that no operation was seen to make: outside of modules it is an input, unless it is a parameter or
        has a history of gradients; inside it came from somewhere else, such as a custom autograd function.
        """
        known = self._is_input.get(tensor)
        if known is not None:
            return known
        return self.depth == 0 and not isinstance(tensor, nn.Parameter) and tensor.grad_fn is None

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        changed = args[0] if func is Tensor.__setitem__ else result
        if isinstance(changed, Tensor | tuple | list):
            is_input = all(self.is_input(tensor) for tensor in tensors((args, kwargs)))
            for tensor in tensors(changed):
                self._is_input[tensor] = is_input
        return result
