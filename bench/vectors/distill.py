#!/usr/bin/env python3
"""Distills static word vectors from a BERT sentence encoder: distill.py MODEL-FOLDER OUTPUT-FOLDER [--dimensions 256]

The recipe of model2vec: run every token of the vocabulary through the encoder, alone, take the mean of the last layer,
reduce it with PCA, and weigh each token by its rarity (SIF with Zipf's law, as the vocabulary is in the order of
frequency). The output is a folder in model2vec's form: `model.safetensors` (one byte per number, one scale per token)
and `tokenizer.json`. Needs only numpy; the encoder is computed here, on the processor.

MODEL-FOLDER has `model.safetensors`, `tokenizer.json` and `config.json`.
"""
import argparse
import json
import math
import pathlib
import shutil

import numpy as np

BATCH = 2048
SIF = 1e-4


def read_tensors(file):
    data = file.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    kinds = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
    return {
        name: np.frombuffer(data[8 + length + about["data_offsets"][0] : 8 + length + about["data_offsets"][1]], kinds[about["dtype"]])
        .reshape(about["shape"])
        for name, about in header.items()
    }


def write_tensors(file, tensors):
    kinds = {"int8": "I8", "float32": "F32"}
    header, offset = {}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": kinds[tensor.dtype.name], "shape": list(tensor.shape), "data_offsets": [offset, offset + tensor.nbytes]}
        offset += tensor.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(tensor.tobytes() for tensor in tensors.values()))


def erf(x):
    """The error function, to seven digits (Abramowitz and Stegun 7.1.26)."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - poly * np.exp(-x * x))


class Encoder:
    """A BERT encoder without dropout; all sequences of a batch have the same length, so there is no mask."""

    def __init__(self, folder):
        self.config = json.loads((folder / "config.json").read_text())
        tensors = read_tensors(folder / "model.safetensors")
        self.tensors = {name.removeprefix("bert."): tensor.astype(np.float32) for name, tensor in tensors.items()}

    def linear(self, x, name):
        # One large product is much faster than one for each sequence.
        product = x.reshape(-1, x.shape[-1]) @ self.tensors[f"{name}.weight"].T + self.tensors[f"{name}.bias"]
        return product.reshape(*x.shape[:-1], -1)

    def normalize(self, x, name):
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        x = (x - mean) / np.sqrt(variance + self.config["layer_norm_eps"])
        return x * self.tensors[f"{name}.weight"] + self.tensors[f"{name}.bias"]

    def attention(self, x, name):
        batch, length, width = x.shape
        heads = self.config["num_attention_heads"]
        split = lambda part: self.linear(x, f"{name}.self.{part}").reshape(batch, length, heads, -1).transpose(0, 2, 1, 3)
        scores = split("query") @ split("key").transpose(0, 1, 3, 2) / math.sqrt(width / heads)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        mixed = (weights @ split("value")).transpose(0, 2, 1, 3).reshape(batch, length, width)
        return self.normalize(self.linear(mixed, f"{name}.output.dense") + x, f"{name}.output.LayerNorm")

    def encode(self, ids):
        """The mean of the last layer, for each row of token ids."""
        table = self.tensors
        x = table["embeddings.word_embeddings.weight"][ids]
        x = x + table["embeddings.position_embeddings.weight"][: ids.shape[1]] + table["embeddings.token_type_embeddings.weight"][0]
        x = self.normalize(x, "embeddings.LayerNorm")
        for layer in range(self.config["num_hidden_layers"]):
            name = f"encoder.layer.{layer}"
            x = self.attention(x, f"{name}.attention")
            inner = self.linear(x, f"{name}.intermediate.dense")
            inner = inner * (1 + erf(inner / math.sqrt(2))) / 2
            x = self.normalize(self.linear(inner, f"{name}.output.dense") + x, f"{name}.output.LayerNorm")
        return x.mean(1)


def reduce_dimensions(vectors, dimensions):
    """Principal component analysis."""
    centered = vectors - vectors.mean(0)
    _, axes = np.linalg.eigh(centered.T @ centered)
    return centered @ axes[:, ::-1][:, :dimensions]


def rarity_weights(tokens):
    """SIF weights. Signs and single letters come first in the vocabulary, which says nothing about their frequency: they
    count as the most frequent token; so do special tokens."""
    is_word = np.array([len(token.removeprefix("##")) > 1 and not token.startswith("[") for token in tokens])
    rank = np.where(is_word, np.cumsum(is_word), 1)
    frequency = 1 / rank
    return SIF / (SIF + frequency / frequency[is_word].sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--dimensions", type=int, default=256)
    options = parser.parse_args()
    vocabulary = json.loads((options.model / "tokenizer.json").read_text())["model"]["vocab"]
    tokens = sorted(vocabulary, key=vocabulary.get)
    first, last = vocabulary["[CLS]"], vocabulary["[SEP]"]
    encoder = Encoder(options.model)
    ids = np.array([[first, token, last] for token in range(len(tokens))])
    vectors = np.concatenate([encoder.encode(ids[at : at + BATCH]) for at in range(0, len(ids), BATCH)])
    vectors = reduce_dimensions(vectors, options.dimensions) * rarity_weights(tokens)[:, None]
    scales = np.maximum(np.abs(vectors).max(1), 1e-12) / 127
    options.output.mkdir(parents=True, exist_ok=True)
    rows = np.rint(vectors / scales[:, None]).astype(np.int8)
    write_tensors(options.output / "model.safetensors", {"embeddings": rows, "weights": scales.astype(np.float32)})
    shutil.copyfile(options.model / "tokenizer.json", options.output / "tokenizer.json")
    (options.output / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": True}) + "\n")


main()
