"""Runs that nobody made: the evidence of mutants whose checks would train or simulate for minutes."""

from __future__ import annotations

from typing import Any

import test_learning_claims
import test_training_claims
import test_training_explained_claims as explained


def printed_runs(_claim: str) -> dict[str, Any]:
    """Accuracies as the paper prints them."""
    return {"runs": test_training_claims.fabricated(), "stand_in": False}


def measured_with_vanilla(_claim: str) -> dict[str, Any]:
    """Accuracies as this book measures them, and the plain network's."""
    return {"runs": explained.figure4(), "stand_in": False, "vanilla": explained.vanilla()}


def measured_with_variants(_claim: str) -> dict[str, Any]:
    """The same, and the trainings with one budget for all."""
    return {"runs": explained.figure4(), "stand_in": False, "variants": explained.variants()}


def only_indices(_claim: str) -> dict[str, Any]:
    """Two indices a message at their own local budget: the values show nothing, and the few dummies hide no index."""
    from gspa.flame.amplification import Setting

    return {"settings": [(Setting(d=100, k=2, n=10, n_p=1, eps=0.5, delta=1e-3), 1.0)]}


def stated_exponents(claim: str) -> dict[str, Any]:
    """Exponents as the blog states them."""
    return {"fitted": test_learning_claims.fitted(test_learning_claims.STATED[claim])}
