"""Stages and architectures. A net is a function of `key` once its settings are fixed."""

from recombine.nets.activations import identity, leaky_relu, sigmoid, tanh
from recombine.nets.convnet import cnn_decoder, cnn_encoder, rotation_decoder
from recombine.nets.convolution import Conv2d, ConvTranspose2d
from recombine.nets.dense import BatchNorm, BlockLinear, Dropout, LayerNorm, Linear
from recombine.nets.film import film_net
from recombine.nets.mlp import mlp
from recombine.nets.modular import matched_width, modules_then_dense, parallel_mlp
from recombine.nets.noise import activity_noise, noisy
from recombine.nets.readers import CropAndFlip, image_convnet, image_resnet, image_vit
from recombine.nets.rendering import FactorCanvas, RenderLayer, render_layer, render_net
from recombine.nets.slot_autoencoders import (
    capacity_of,
    decode,
    dense_slots,
    encode,
    posterior_of,
    slot_autoencoder,
)
from recombine.nets.slot_decoders import (
    Drawn,
    PixelSample,
    additive_decoder,
    attention_decoder,
    bilinear_decoder,
    broadcast_decoder,
    dense_decoder,
    pixels_at,
)
from recombine.nets.slot_encoders import slot_attention, slot_transformer
from recombine.nets.stages import (
    Buffer,
    Chain,
    Net,
    PReLU,
    Reshape,
    evaluate,
    evaluate_stages,
    observe,
    parameter_count,
    trace,
    trainable,
)
from recombine.nets.tokens import pixel_transformer, position_table, spatial_mlp
from recombine.nets.wiring import Link, links, staged, weight_matrices, weighted_layers, with_matrices

__all__ = [
    "BatchNorm",
    "BlockLinear",
    "Buffer",
    "Chain",
    "Conv2d",
    "ConvTranspose2d",
    "CropAndFlip",
    "Drawn",
    "Dropout",
    "FactorCanvas",
    "LayerNorm",
    "Linear",
    "Link",
    "Net",
    "PReLU",
    "PixelSample",
    "RenderLayer",
    "Reshape",
    "activity_noise",
    "additive_decoder",
    "attention_decoder",
    "bilinear_decoder",
    "broadcast_decoder",
    "capacity_of",
    "cnn_decoder",
    "cnn_encoder",
    "decode",
    "dense_decoder",
    "dense_slots",
    "encode",
    "evaluate",
    "evaluate_stages",
    "film_net",
    "identity",
    "image_convnet",
    "image_resnet",
    "image_vit",
    "leaky_relu",
    "links",
    "matched_width",
    "mlp",
    "modules_then_dense",
    "noisy",
    "observe",
    "parallel_mlp",
    "parameter_count",
    "pixel_transformer",
    "pixels_at",
    "position_table",
    "posterior_of",
    "render_layer",
    "render_net",
    "rotation_decoder",
    "sigmoid",
    "slot_attention",
    "slot_autoencoder",
    "slot_transformer",
    "spatial_mlp",
    "staged",
    "tanh",
    "trace",
    "trainable",
    "weight_matrices",
    "weighted_layers",
    "with_matrices",
]
