"""The demo's digit classifier: trained on scikit-learn's digits, exported three ways.

Writes digits.pte (XNNPACK float32), digits_portable.pte (no delegate) and digits_q8.pte
(XNNPACK int8, per channel), the held-out test images, the eager outputs and the labels.
All programs take [360, 1, 8, 8] in [0, 1] and return [360, 10] logits.
digits_q8.expected.npz is the converted graph in eager; digits_q8.float.npz the float model.
"""

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

from lowering import DATA, export, lower, quantise, run_eager, save_tensors, write_program, xnnpack

TEST_IMAGES = 360


def load_split():
    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)[:, None, :, :]
    train_x, test_x, train_y, test_y = train_test_split(
        images, digits.target, test_size=TEST_IMAGES, random_state=0, stratify=digits.target
    )
    return (torch.from_numpy(np.ascontiguousarray(a)) for a in (train_x, test_x, train_y, test_y))


def make_model():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def train(model, images, labels, epochs=40, batch=64):
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    order = torch.Generator().manual_seed(0)
    for _ in range(epochs):
        for rows in torch.randperm(len(images), generator=order).split(batch):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(images[rows]), labels[rows]).backward()
            optimiser.step()
    return model.eval().requires_grad_(False)


def accuracy(logits, labels):
    return (logits.argmax(1) == labels).float().mean().item()


def main():
    torch.manual_seed(0)
    train_x, test_x, train_y, test_y = load_split()
    model = train(make_model(), train_x, train_y)
    inputs = (test_x,)
    expected = run_eager(model, inputs)
    print(f"float accuracy {accuracy(expected[0], test_y):.4f}")
    assert accuracy(expected[0], test_y) >= 0.97

    for name, partitioners in (("digits", xnnpack()), ("digits_portable", [])):
        write_program(DATA / f"{name}.pte", lower(export(model, inputs), partitioners))
    save_tensors(DATA / "digits.inputs.npz", inputs)
    save_tensors(DATA / "digits.expected.npz", expected)
    np.save(DATA / "digits.labels.npy", test_y.numpy())

    calibration = [(train_x[i : i + TEST_IMAGES],) for i in (0, TEST_IMAGES, 2 * TEST_IMAGES)]
    converted = quantise(model, calibration)
    converted_outputs = run_eager(converted, inputs)
    print(f"int8 accuracy {accuracy(converted_outputs[0], test_y):.4f}")
    assert accuracy(converted_outputs[0], test_y) >= 0.97
    write_program(DATA / "digits_q8.pte", lower(export(converted, inputs), xnnpack()))
    save_tensors(DATA / "digits_q8.expected.npz", converted_outputs)
    save_tensors(DATA / "digits_q8.float.npz", expected)


if __name__ == "__main__":
    main()
