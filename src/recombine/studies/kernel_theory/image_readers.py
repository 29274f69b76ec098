"""The networks that read images, with their images and their training: the small setting and the published one.

The small setting uses scikit-learn's digits, every pixel doubled so that four 3 × 3 convolutions see as much of a digit
(9 of 16 pixels) as the published 5 × 5 ones do (17 of 28), and 12 pixels are the same share of a digit's width as the
published 20; a quarter of the filters, a tenth of the examples. Scale paper uses the published setting if the images
are on this machine, and otherwise the small one with the published number of seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from recombine.nets import image_convnet, image_resnet, image_vit
from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.evidence import ArmPlan, Scale
from recombine.studies.kernel_theory import symbol_probes
from recombine.studies.kernel_theory.symbol_networks import LOGISTIC
from recombine.tasks import composite_images, datasets
from recombine.tasks.images.exemplars import black
from recombine.training import Recipe, adam, sgd
from recombine.training.recipe import SQUARED_ERROR, Optimiser

SEEDS = {"smoke": 1, "quick": 6, "paper": 10}
"""Published: 10."""
SPARE_SEEDS = {"ResNet": 2, "ViT": 2}
"""Further seeds at scale quick, for nets that do not always fit."""
NEAR, MIDDLE, FAR = "near", "middle", "far"
"""Superimposed images, half a width apart, and a digit's width apart (on different channels in any case)."""
READERS = ("ConvNet", "ResNet", "ViT")
RECORD_EVERY = 500
"""Steps; a record runs the net on all rows, of which there are twice as many as training rows."""
EXEMPLARS = 11
"""Rows of every cell whose activities are compared, as published."""
SLOWER = 5
"""How many times smaller the learning rate of the slow arms is, and how many times longer they train."""


@dataclass(frozen=True)
class Reader:
    """One network with its images and its training.

    **Attributes:**

    - `side`: height of an image, and width of one component; `channels` of one component.
    - `distances`: pixels between components, by name.
    - `totals`, `epochs`, `optimisers`: numbers of training examples, epochs, and optimisers, by kind of task.
    """

    source: str
    enlarge: int
    side: int
    channels: int
    distances: Mapping[str, int]
    batch: int
    pool: int
    fresh: int
    totals: Mapping[str, int]
    epochs: Mapping[str, int]
    optimisers: Mapping[str, Optimiser]
    net: Part

    def task(self, symbols_task: Part, kind: str, distance: str) -> Part:
        """The symbolic task with images as inputs."""
        return Part(
            composite_images,
            task=symbols_task,
            source=self.source,
            enlarge=self.enlarge,
            distance=self.distances[distance],
            total=self.totals[kind],
            pool=self.pool,
            fresh=self.fresh,
        )

    def net_for(self, components: int, distance: str) -> Part:
        """The network for images with this many components."""
        settings = dict(self.net.settings) | {"channels": components * self.channels}
        if self.net.name != Part(image_resnet).name:
            width = self.side + (components - 1) * self.distances[distance]
            settings["size"] = (self.side, width)
        return Part(self.net.name, **settings)


def _for_all(optimiser: Optimiser) -> dict[str, Optimiser]:
    return dict.fromkeys(("addition", "context", "equivalence"), optimiser)


SMALL_TOTALS = {"addition": 2176, "context": 3000, "equivalence": 2016}
"""2176 is a multiple of the 17 and of the 32 training cells of addition."""
SMALL_CONVNET = Reader(
    source="digits",
    enlarge=2,
    side=16,
    channels=1,
    distances={NEAR: 0, MIDDLE: 6, FAR: 12},
    batch=64,
    pool=100,
    fresh=30,
    totals=SMALL_TOTALS,
    epochs={"addition": 45, "context": 20, "equivalence": 30},
    optimisers=_for_all(sgd(3e-3, momentum=0.9)) | {"addition": sgd(1.5e-3, momentum=0.9)},
    net=Part(image_convnet, filters=(8, 8, 16, 16), kernel=3, dense=(64, 128)),
)
SMALL_RESNET = replace(
    SMALL_CONVNET,
    distances={NEAR: 0},
    epochs={"addition": 15, "context": 15},
    optimisers=_for_all(adam(1e-3)),
    net=Part(image_resnet, widths=(8, 16, 32, 64)),
)
SMALL_VIT = replace(
    SMALL_RESNET,
    epochs={"addition": 60, "context": 40},
    net=Part(image_vit, patch=4, width=64, depth=4, heads=4, head=16, hidden=64),
)
MNIST_CONVNET = Reader(
    source="mnist",
    enlarge=1,
    side=28,
    channels=1,
    distances={NEAR: 0, "5 pixels": 5, MIDDLE: 10, "15 pixels": 15, FAR: 20},
    batch=128,
    pool=200,
    fresh=100,
    totals={"addition": 20_000, "context": 30_000, "equivalence": 20_000},
    epochs={"addition": 100, "context": 100, "equivalence": 150},
    optimisers=_for_all(sgd(1e-4, momentum=0.9)),
    net=Part(image_convnet),
)
CIFAR_BLACK = black("cifar10")


def _cifar(net: Part, optimiser: Optimiser, epochs: int) -> Reader:
    return Reader(
        source="cifar10",
        enlarge=1,
        side=32,
        channels=3,
        distances={NEAR: 0},
        batch=128,
        pool=4000,
        fresh=100,
        totals={"addition": 40_000, "context": 40_000},
        epochs={"addition": epochs, "context": epochs},
        optimisers=_for_all(optimiser),
        net=net,
    )


CIFAR_RESNET = _cifar(Part(image_resnet, augment=4, black=CIFAR_BLACK), adam(1e-3), 100)
CIFAR_VIT = _cifar(Part(image_vit, augment=4, black=CIFAR_BLACK), adam(1e-4), 200)


def readers(scale: Scale) -> dict[str, Reader]:
    """The networks at a scale, by name."""
    small = dict(zip(READERS, (SMALL_CONVNET, SMALL_RESNET, SMALL_VIT), strict=True))
    if scale == "smoke":
        few = {"addition": 34, "context": 64}
        tiny = {
            "ConvNet": Part(image_convnet, filters=(2, 2, 2, 2), kernel=3, dense=(4,)),
            "ResNet": Part(image_resnet, widths=(2, 2), blocks=1),
            "ViT": Part(image_vit, patch=8, width=4, depth=1, heads=1, head=4, hidden=4),
        }
        return {n: replace(reader, totals=few, fresh=2, net=tiny[n]) for n, reader in small.items()}
    if scale == "quick":
        return small
    published = dict(zip(READERS, (MNIST_CONVNET, CIFAR_RESNET, CIFAR_VIT), strict=True))
    available = {source: datasets.find(source) is not None for source in ("mnist", "cifar10")}
    return {name: reader if available[reader.source] else small[name] for name, reader in published.items()}


def image_arm(reader: str, task: str, distance: str) -> str:
    """The arm of one network on one image task."""
    return f"{reader}, {task}, {distance}"


def context_task(hidden: int) -> str:
    """The name of a context task among the image arms."""
    return f"CD-{hidden}"


def equivalence_task(hubs: int) -> str:
    """The name of a transitive task among the image arms."""
    return f"equivalence of {hubs} hubs" if hubs > 1 else "equivalence of 1 hub"


def slow_arm(anchors: str) -> str:
    """Addition with superimposed images at a smaller learning rate."""
    return f"ConvNet, addition {anchors}, near, slow"


def similarity_arm(distance: str) -> str:
    """The arm of untrained convolutional networks."""
    return f"untrained ConvNet, {distance}"


def image_plan(
    scale: Scale,
    reader: Reader,
    kind: str,
    symbols_task: Part,
    distance: str,
    *,
    slower: int = 1,
    spare: int = 0,
) -> ArmPlan:
    """Training one network on one task; `slower` divides the learning rate and multiplies the epochs."""
    probes = [Part(symbol_probes.predictions), Part(symbol_probes.additivity)]
    probes += [Part(symbol_probes.slopes)] if kind == "addition" else []
    probes += [Part(symbol_probes.conjunctions)] if kind == "context" else []
    optimiser = reader.optimisers[kind]
    recipe = Recipe(
        epochs=None if scale == "smoke" else slower * reader.epochs[kind],
        steps=2 if scale == "smoke" else None,
        batch=reader.batch,
        optimiser=replace(optimiser, learning_rate=optimiser.learning_rate / slower),
        loss=SQUARED_ERROR if kind == "addition" else LOGISTIC,
        record_every=RECORD_EVERY,
    )
    net = reader.net_for(3 if kind == "context" else 2, distance)
    trial = Trial(reader.task(symbols_task, kind, distance), tuple(probes), (0,), net, recipe)
    return ArmPlan(trial, seeds=SEEDS[scale] + (spare if scale == "quick" else 0))


def similarity_plan(scale: Scale, reader: Reader, symbols_task: Part, distance: str) -> ArmPlan:
    """The salience of single images in a network that has not been trained."""
    probe = Part(symbol_probes.salience, stage="relu3", exemplars=EXEMPLARS)
    task = reader.task(symbols_task, "addition", distance)
    untrained = Recipe(steps=0, batch=reader.batch)
    trial = Trial(task, (probe,), (0,), reader.net_for(2, distance), untrained)
    return ArmPlan(trial, seeds=SEEDS[scale])
