"""Stages and architectures. A net is a function of `key` once its settings are fixed."""

from recombine.nets.connections import Link, links, staged, weight_matrices, weighted_layers, with_matrices
from recombine.nets.convnet import cnn_decoder, cnn_encoder, rotation_decoder
from recombine.nets.image_readers import CropAndFlip, image_convnet, image_resnet, image_vit
from recombine.nets.layers.activations import PReLU, identity, leaky_relu, sigmoid, tanh
from recombine.nets.layers.convolution import Conv2d, ConvTranspose2d
from recombine.nets.layers.dense import BlockLinear, Dropout, Linear
from recombine.nets.layers.noise import activity_noise, noisy
from recombine.nets.layers.normalisation import BatchNorm, LayerNorm
from recombine.nets.mlp import mlp
from recombine.nets.modular_mlp import matched_width, modules_then_dense, parallel_mlp
from recombine.nets.pixel_tokens import pixel_transformer, position_table, spatial_mlp
from recombine.nets.render_net import FactorCanvas, RenderLayer, render_layer, render_net
from recombine.nets.slots.slot_autoencoders import (
    decode,
    dense_slots,
    encode,
    posterior_of,
    slot_autoencoder,
)
from recombine.nets.slots.slot_decoders import (
    DecodedPixels,
    PixelSample,
    additive_decoder,
    attention_decoder,
    bilinear_decoder,
    broadcast_decoder,
    dense_decoder,
    pixels_at,
)
from recombine.nets.slots.slot_encoders import slot_attention, slot_transformer
from recombine.nets.stages import (
    Buffer,
    Chain,
    Net,
    Reshape,
    evaluate,
    evaluate_stages,
    observe,
    parameter_count,
    trace,
    trainable,
)

__all__ = [
    "BatchNorm",
    "BlockLinear",
    "Buffer",
    "Chain",
    "Conv2d",
    "ConvTranspose2d",
    "CropAndFlip",
    "DecodedPixels",
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
    "cnn_decoder",
    "cnn_encoder",
    "decode",
    "dense_decoder",
    "dense_slots",
    "encode",
    "evaluate",
    "evaluate_stages",
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
