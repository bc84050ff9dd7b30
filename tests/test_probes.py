"""The probe and the ridge against oracles."""

from dataclasses import replace

import numpy as np
import pytest

from pyeval.probes import (
    ProbeSettings,
    RidgeSettings,
    balanced_weights,
    linear_probe,
    ridge,
    standardise,
)
from pyeval.whiten import fit_whitening
from warehouse.errors import CheckFailed


def blobs(n: int = 240, dims: int = 6, classes: int = 3, seed: int = 0):
    """Classes around corners of a cube, of unequal sizes."""
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.choice(classes, n, p=[0.7, 0.2, 0.1]))
    labels[:classes] = np.arange(classes)
    features = rng.normal(size=(n, dims)) * 0.3
    features[np.arange(n), labels] += 2.0
    return features.astype(np.float32), labels


def test_the_probe_separates_a_separable_toy():
    features, labels = blobs()
    logits = linear_probe(features, labels, features, ProbeSettings())
    assert logits.shape == (3, 240, 3)
    assert (logits.argmax(axis=2) == labels).mean() > 0.99


def test_three_seeds_in_one_matrix_equal_three_separate_loops():
    features, labels = blobs()
    settings = ProbeSettings(epochs=5, batch=64)
    together = linear_probe(features, labels, features[:20], settings)
    apart = [
        linear_probe(features, labels, features[:20], replace(settings, seeds=(seed,)))[0]
        for seed in settings.seeds
    ]
    np.testing.assert_allclose(together, np.stack(apart), atol=1e-5)
    assert np.abs(together[0] - together[1]).max() > 1e-3  # the seeds do differ


def test_one_seed_equals_torchs_own_layer_and_loss():
    import torch

    features, labels = blobs()
    settings = ProbeSettings(seeds=(5,), epochs=3, batch=1000)
    found = linear_probe(features, labels, features, settings)[0]
    layer = torch.nn.Linear(6, 3)
    generator = torch.Generator().manual_seed(5)
    drawn = (torch.rand((7, 3), generator=generator) * 2 - 1) * 6**-0.5
    with torch.no_grad():
        layer.weight.copy_(drawn[:-1].T)
        layer.bias.copy_(drawn[-1])
    optimizer = torch.optim.AdamW(layer.parameters(), lr=1e-2, weight_decay=1e-4)
    loss = torch.nn.CrossEntropyLoss(weight=torch.from_numpy(balanced_weights(labels, 3)))
    for _ in range(3):
        optimizer.zero_grad()
        loss(layer(torch.from_numpy(features)), torch.from_numpy(labels)).backward()
        optimizer.step()
    np.testing.assert_allclose(found, layer(torch.from_numpy(features)).detach(), atol=1e-5)


def test_class_weights_are_sklearns():
    from sklearn.utils.class_weight import compute_class_weight

    labels = np.array([0, 0, 0, 1, 2, 2])
    expected = compute_class_weight("balanced", classes=np.arange(3), y=labels)
    np.testing.assert_allclose(balanced_weights(labels, 3), expected)


def test_a_rare_class_is_found_because_classes_are_balanced():
    rng = np.random.default_rng(1)
    labels = (np.arange(1000) < 30).astype(int)
    features = (rng.normal(size=(1000, 1)) + labels[:, None] * 1.5).astype(np.float32)
    guess = linear_probe(features, labels, features, ProbeSettings()).argmax(axis=2)[0]
    assert guess[labels == 1].mean() > 0.6


def test_several_labels_at_once_are_learned():
    rng = np.random.default_rng(2)
    labels = rng.random((300, 4)) < 0.3
    features = (labels + rng.normal(size=(300, 4)) * 0.05).astype(np.float32)
    logits = linear_probe(features, labels, features, ProbeSettings(epochs=300))
    assert ((logits > 0) == labels).mean() > 0.98


def test_features_are_unit_rows_standardised_by_train_alone():
    rng = np.random.default_rng(3)
    train, test = rng.normal(size=(2, 50, 4)) * 7
    train[:, 3] = test[:, 3] = 0.0
    shown, asked = standardise(train, test)
    np.testing.assert_allclose(shown.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(shown[:, :3].std(axis=0), 1, atol=1e-5)
    assert np.all(asked[:, 3] == 0)  # a dimension that does not vary says nothing
    again, _ = standardise(train, test * 100)
    np.testing.assert_array_equal(shown, again)
    np.testing.assert_allclose(standardise(train, test * 100)[1], asked, atol=1e-5)


def test_ridge_has_sklearns_coefficients():
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(4)
    features = rng.normal(size=(200, 8)) + 3.0  # a mean far from zero: the intercept matters
    target = features @ rng.normal(size=8) + rng.normal(size=200) + 2000
    held_out = np.arange(200) % 10 == 0
    fit = ridge(features, target, held_out, RidgeSettings(penalties=(0.5,)))
    scaled = (target - target.min()) / (target.max() - target.min())
    oracle = Ridge(alpha=0.5 * 200).fit(features, scaled)
    np.testing.assert_allclose(fit.coefficients, oracle.coef_, rtol=1e-8)
    assert fit.intercept == pytest.approx(oracle.intercept_)


def test_ridge_of_single_precision_features_has_the_coefficients_of_double():
    """More rows than one block; features as `standardise` leaves them."""
    rng = np.random.default_rng(8)
    mixed = rng.normal(size=(9_001, 24)) @ rng.normal(size=(24, 24))
    features = standardise(mixed)[0]
    target = features @ rng.normal(size=24) + rng.normal(size=9_001)
    held_out, settings = np.arange(9_001) % 10 == 0, RidgeSettings(penalties=(1e-4,))
    one = ridge(features, target, held_out, settings)
    two = ridge(features.astype(np.float64), target, held_out, settings)
    np.testing.assert_allclose(one.coefficients, two.coefficients, atol=1e-5)
    assert one.intercept == pytest.approx(two.intercept, abs=1e-6)


def test_the_penalty_is_the_one_that_orders_the_held_out_rows_best():
    from scipy.stats import kendalltau
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(5)
    features = rng.normal(size=(80, 60))
    target = features[:, 0] + rng.normal(size=80)
    held_out = np.arange(80) % 4 == 0
    settings = RidgeSettings()
    fit = ridge(features, target, held_out, settings)
    scaled = (target - target.min()) / (target.max() - target.min())
    taus = {}
    for penalty in settings.penalties:
        alone = Ridge(alpha=penalty * 60).fit(features[~held_out], scaled[~held_out])
        taus[penalty] = kendalltau(scaled[held_out], alone.predict(features[held_out])).statistic
    assert taus[fit.penalty] == max(taus.values())
    assert len(set(taus.values())) > 1


def test_a_constant_target_or_no_held_out_row_still_gives_a_finite_fit():
    features = np.random.default_rng(6).normal(size=(9, 3))
    fit = ridge(features, np.full(9, 2014.0), np.zeros(9, bool), RidgeSettings())
    assert np.isfinite(fit.predict(features)).all()


def test_whitened_vectors_of_a_wide_sample_have_no_favourite_direction():
    rng = np.random.default_rng(7)
    mixed = rng.normal(size=(4000, 5)) * [9, 3, 1, 0.3, 0.1] @ rng.normal(size=(5, 5)) + 4
    fitted = fit_whitening(mixed, shrink=0.0)
    moved = (mixed - fitted.mean) @ fitted.transform
    np.testing.assert_allclose(np.cov(moved.T, bias=True), np.eye(5), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(fitted.apply(mixed), axis=1), 1, atol=1e-5)


def test_shrinkage_adds_its_share_of_the_mean_eigenvalue():
    vectors = np.array([[2.0, 0], [-2, 0], [0, 1], [0, -1]])  # covariance diag(2, .5)
    fitted = fit_whitening(vectors, shrink=0.3)
    expected = np.diag(1 / np.sqrt(np.array([2, 0.5]) + 0.3 * 1.25))
    np.testing.assert_allclose(fitted.transform, expected)


def test_vectors_that_do_not_vary_cannot_be_whitened():
    with pytest.raises(CheckFailed, match="all the same"):
        fit_whitening(np.ones((10, 4)))
