"""Stages and architectures. A net is a function of `key` once its settings are fixed."""

from recombine.nets.convnet import cnn_decoder, cnn_encoder, rotation_decoder
from recombine.nets.convolution import Conv2d, ConvTranspose2d
from recombine.nets.dense import BatchNorm, Dropout, LayerNorm, Linear
from recombine.nets.mlp import mlp
from recombine.nets.readers import CropAndFlip, image_convnet, image_resnet, image_vit
from recombine.nets.rendering import FactorCanvas, RenderLayer, render_layer, render_net
from recombine.nets.stages import (
    Buffer,
    Chain,
    Net,
    PReLU,
    Reshape,
    evaluate,
    observe,
    parameter_count,
    trace,
    trainable,
)
from recombine.nets.tokens import pixel_transformer, position_table, spatial_mlp

__all__ = [
    "BatchNorm",
    "Buffer",
    "Chain",
    "Conv2d",
    "ConvTranspose2d",
    "CropAndFlip",
    "Dropout",
    "FactorCanvas",
    "LayerNorm",
    "Linear",
    "Net",
    "PReLU",
    "RenderLayer",
    "Reshape",
    "cnn_decoder",
    "cnn_encoder",
    "evaluate",
    "image_convnet",
    "image_resnet",
    "image_vit",
    "mlp",
    "observe",
    "parameter_count",
    "pixel_transformer",
    "position_table",
    "render_layer",
    "render_net",
    "rotation_decoder",
    "spatial_mlp",
    "trace",
    "trainable",
]
