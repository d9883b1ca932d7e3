# examples/exercises/test_e07_keys.py - grades exercise 7: random numbers on devices.
import numpy as np
import pytest
import shardax


@pytest.mark.seeds(3)
def test_more_devices_are_closer(answer, random_key):
    keys = shardax.random.split(random_key, 16)
    errors = {
        n: np.std([float(answer.estimate_pi(key, n, 200)) - np.pi for key in keys]) for n in (1, 8)
    }
    assert errors[8] < errors[1], "8 devices have drawn the same points: each needs its own key"


def test_close_to_pi(answer, random_key):
    assert abs(float(answer.estimate_pi(random_key, 8, 10_000)) - np.pi) < 0.03


def test_the_same_key_gives_the_same(answer, random_key):
    assert answer.estimate_pi(random_key, 8, 50) == answer.estimate_pi(random_key, 8, 50)
