# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""What our trajectory writer writes, on our server and dm-reverb's, read by clients of both."""

import numpy as np
import pytest

import reverb
from tests.interop import peer as peer_lib

pytestmark = pytest.mark.skipif(
    not peer_lib.PYTHON, reason="REVERB_PEER_PYTHON names no environment with dm-reverb 0.14"
)

STEPS = 12
# Cut from a history of 12 steps.
CUTS = [
    -1,
    slice(-3, None),
    slice(0, 12),
    slice(2, 11, 3),
    slice(None, None, -1),
    slice(10, 1, -4),
    [0, 4, 2],
    [3, 3, 3],
    [0, 1, 2, 7, 8, 11],
    [11, 0],
]


@pytest.fixture(scope="module")
def peer():
    peer = peer_lib.Peer()
    yield peer
    peer.close()


@pytest.fixture(scope="module")
def peer_address(peer):
    return f"localhost:{peer.call('serve', {'queue': 100_000})}"


@pytest.fixture(scope="module")
def our_address():
    with reverb.Server([reverb.Table.queue("queue", 100_000)]) as server:
        yield f"localhost:{server.port}"


@pytest.fixture(params=["our server", "their server"])
def address(request):
    return request.getfixturevalue(
        "our_address" if request.param == "our server" else "peer_address"
    )


@pytest.fixture(params=["our client", "their client"])
def take(request, address, peer):
    """Reads items as flat columns."""
    if request.param == "their client":
        return lambda count: peer.sample(address, "queue", count)
    client = reverb.Client(address)
    return lambda count: [
        s.data for s in client.sample("queue", count, emit_timesteps=False, timeout=60)
    ]


def _expected(values, cut):
    if isinstance(cut, list):
        return np.stack([values[i] for i in cut])
    return np.stack(values)[cut]


@pytest.mark.parametrize("max_chunk_length", [None, 1, 4, 12])
def test_cuts_come_back_as_they_were_made(address, take, max_chunk_length):
    obs = [np.array([i, -i], np.float32) for i in range(STEPS)]
    text = [f"step {i}".encode() for i in range(STEPS)]
    client = reverb.Client(address)
    writer = client.trajectory_writer(STEPS)
    for path in ("obs", "text"):
        writer.configure((path,), num_keep_alive_refs=STEPS, max_chunk_length=max_chunk_length)
    for i in range(STEPS):
        writer.append({"obs": obs[i], "text": text[i]})
    history = writer.history
    for i, cut in enumerate(CUTS):
        other = CUTS[-1 - i]  # columns of an item may differ
        writer.create_item("queue", 1.0, [history["obs"][cut], history["text"][other]])
    writer.end_episode()
    for i, item in enumerate(take(len(CUTS))):
        np.testing.assert_array_equal(item[0], _expected(obs, CUTS[i]))
        expected = _expected([np.array(t, object) for t in text], CUTS[-1 - i])
        np.testing.assert_array_equal(item[1], expected)
        assert item[0].dtype == np.float32


def test_windows_of_a_load(address, take):
    data = {"x": np.arange(40, dtype=np.int64).reshape(20, 2), "y": np.arange(20.0)}
    ends = np.arange(20) == 7
    assert reverb.Client(address).load("queue", data, length=3, episode_ends=ends) == 6 + 10
    windows = [*range(6), *range(8, 18)]
    for begin, item in zip(windows, take(16), strict=True):
        np.testing.assert_array_equal(item[0], data["x"][begin : begin + 3])
        np.testing.assert_array_equal(item[1], data["y"][begin : begin + 3])


def test_batches_of_a_sampler(address, peer):
    peer.call("insert", address, "queue", list(range(10)))
    with reverb.Client(address).sampler(
        "queue", batch_size=4, max_samples=10, timeout=60, unpack=True
    ) as batches:
        values = [batch.data[0].ravel().tolist() for batch in batches]
    assert values == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
