"""Algorithm 3's training time, side by side with what the machine can do.

`python benchmarks/sgd.py` trains one run of the paper's size on random data, on one thread, and
in the same process times (a) the same number of floating-point operations as plain matrix products
of the network's own shapes and (b) the same run written as an ordinary autograd loop. It prints ratios; nothing
here is asserted.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from timing import best

from gspa.algorithms import sgd
from gspa.algorithms.digits import Dataset

CLIENTS, SAMPLES, INPUTS, HIDDEN, CLASSES, EPOCHS = 100, 600, 60, 100, 10, 10


def products() -> None:
    """Forward and backward of one step as bare float32 products, for all steps."""
    x, w1 = torch.rand(SAMPLES, INPUTS), torch.rand(INPUTS, HIDDEN)
    h, w2, g = torch.rand(SAMPLES, HIDDEN), torch.rand(HIDDEN, CLASSES), torch.rand(SAMPLES, CLASSES)
    for _ in range(EPOCHS * CLIENTS):
        x @ w1, h @ w2, h.T @ g, g @ w2.T, x.T @ h


def autograd(data: Dataset, config: sgd.SgdConfig) -> None:
    """The plain loop: one client at a time, gradients by torch."""
    model = torch.nn.Sequential(torch.nn.Linear(INPUTS, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, CLASSES))
    x = torch.from_numpy(data.train_x).reshape(CLIENTS, SAMPLES, INPUTS)
    y = torch.from_numpy(data.train_y).reshape(CLIENTS, SAMPLES)
    for _ in range(config.epochs):
        for images, labels in zip(x, y, strict=True):
            model.zero_grad()
            torch.nn.functional.cross_entropy(model(images), labels).backward()
            parameters = list(model.parameters())
            torch.nn.utils.clip_grad_norm_(parameters, config.clip)
            with torch.no_grad():
                for parameter in parameters:
                    parameter -= config.learning_rate * (parameter.grad + 0.1 * torch.randn_like(parameter))


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description="Algorithm 3's training time, beside what the machine can do.").parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    data = Dataset(
        train_x=rng.random((CLIENTS * SAMPLES, INPUTS), dtype=np.float32),
        train_y=rng.integers(0, CLASSES, CLIENTS * SAMPLES),
        test_x=rng.random((1000, INPUTS), dtype=np.float32),
        test_y=np.arange(1000) % CLASSES,
        name="random",
        stand_in=True,
        sha256={},
        source="made here",
    )
    config = sgd.SgdConfig(clients=CLIENTS, epochs=EPOCHS, hidden_width=HIDDEN)
    noisy = np.full((1, CLIENTS), 0.5)
    rows = {
        "gspa.algorithms.sgd.train, no noise": best(
            lambda: sgd.train(data, None, config, seeds=[0], evaluate_every=EPOCHS)
        ),
        "gspa.algorithms.sgd.train, with noise": best(
            lambda: sgd.train(data, noisy, config, seeds=[0], evaluate_every=EPOCHS)
        ),
        "bare matrix products": best(products),
        "autograd loop, with noise": best(lambda: autograd(data, config)),
    }
    unit = rows["bare matrix products"]
    print(f"{EPOCHS} epochs, {CLIENTS} clients of {SAMPLES}, {INPUTS}-{HIDDEN}-{CLASSES}, float32, one thread")
    for name, seconds in rows.items():
        print(f"{name:38} {seconds:7.3f} s   {seconds / unit:6.2f} x the bare products")


if __name__ == "__main__":
    main()
