# Copyright 2026 The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Learns CartPole through a replay server, each part in a process of its own.

    actor 0 --.  transitions   +----------------------+  batches
               >-------------> | replay               | ----------> learner
    actor 1 --'                |  prioritized, limited | <----------
        ^                      | weights              |  priorities,
        '--------------------- |  the newest network  |  weights
                               +----------------------+

The table `replay` holds single transitions. Its rate limiter keeps the learner
at `SAMPLES_PER_INSERT` samples per transition: whoever runs ahead waits. The
table `weights` holds one item, the newest network: actors sample it as they
would any data.

The agent is double DQN (van Hasselt et al. 2016) on a small NumPy network,
with proportional prioritized replay (Schaul et al. 2016). The program ends
with code 0 when 20 greedy episodes return 195 or more on average, and with
code 1 when that hasn't happened within the step limit.

    python cartpole_dqn.py [--seed N] [--max-steps N] [--curve FILE.png]
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import itertools
import multiprocessing
import pathlib
import queue
import signal
import sys
import time
from multiprocessing.connection import Connection
from typing import Any

import gymnasium
import numpy as np

import reverb

ENVIRONMENT = "CartPole-v1"
NUM_ACTORS = 2
SOLVED_RETURN = 195.0
GREEDY_EPISODES = 20

BATCH_SIZE = 64
HIDDEN_UNITS = 64
LEARNING_RATE = 1e-3
DISCOUNT = 0.98
TARGET_RATE = 0.01  # how far the target network moves to the other, each step
PUBLISH_PERIOD = 50  # learner steps between networks handed to the actors
EVALUATION_PERIOD = 250  # learner steps

MAX_SIZE = 50_000  # transitions
MIN_SIZE = 1_000  # transitions before the first batch
SAMPLES_PER_INSERT = 16.0
ERROR_BUFFER = 4_000.0  # samples that either side may run ahead
PRIORITY_EXPONENT = 0.6
MAX_PRIORITY = 10.0  # new transitions get it, so that each is learnt from soon
FINAL_BETA_STEP = 10_000  # learner steps until importance weights correct fully

Params = dict[str, np.ndarray]


# ---------------------------------------------------------------- the network


def init_params(rng: np.random.Generator, sizes: list[int]) -> Params:
    """He-initialised weights `w0, b0, w1, ...` of a network with ReLU layers."""
    params = {}
    for i, (fan_in, fan_out) in enumerate(itertools.pairwise(sizes)):
        scale = np.sqrt(2.0 / fan_in)
        params[f"w{i}"] = rng.normal(0, scale, (fan_in, fan_out)).astype(np.float32)
        params[f"b{i}"] = np.zeros(fan_out, np.float32)
    return params


def forward(params: Params, x: np.ndarray) -> list[np.ndarray]:
    """Activations of every layer for `x` `[B, inputs]`; the last are the Q values."""
    activations = [x]
    num_layers = len(params) // 2
    for i in range(num_layers):
        x = x @ params[f"w{i}"] + params[f"b{i}"]
        if i < num_layers - 1:
            x = np.maximum(x, 0)
        activations.append(x)
    return activations


def backward(params: Params, activations: list[np.ndarray], grad: np.ndarray) -> Params:
    """Gradients of the parameters, given that of the last activations."""
    grads = {}
    for i in reversed(range(len(params) // 2)):
        grads[f"w{i}"] = activations[i].T @ grad
        grads[f"b{i}"] = grad.sum(0)
        grad = (grad @ params[f"w{i}"].T) * (activations[i] > 0)
    return grads


class Adam:
    """Adam (Kingma and Ba 2015), in place."""

    def __init__(self, params: Params, learning_rate: float) -> None:
        self._rate = learning_rate
        self._mean = {k: np.zeros_like(v) for k, v in params.items()}
        self._square = {k: np.zeros_like(v) for k, v in params.items()}
        self._step = 0

    def update(self, params: Params, grads: Params) -> None:
        self._step += 1
        rate = self._rate * np.sqrt(1 - 0.999**self._step) / (1 - 0.9**self._step)
        for key, grad in grads.items():
            self._mean[key] += 0.1 * (grad - self._mean[key])
            self._square[key] += 0.001 * (grad**2 - self._square[key])
            params[key] -= rate * self._mean[key] / (np.sqrt(self._square[key]) + 1e-8)


def greedy_action(params: Params, observation: np.ndarray) -> int:
    return int(forward(params, observation[None])[-1].argmax())


# ----------------------------------------------------------------- the server


def replay_tables() -> list[reverb.Table]:
    return [
        reverb.Table(
            name="replay",
            sampler=reverb.selectors.Prioritized(PRIORITY_EXPONENT),
            remover=reverb.selectors.Fifo(),
            max_size=MAX_SIZE,
            rate_limiter=reverb.rate_limiters.SampleToInsertRatio(
                samples_per_insert=SAMPLES_PER_INSERT,
                min_size_to_sample=MIN_SIZE,
                error_buffer=ERROR_BUFFER,
            ),
        ),
        reverb.Table(
            name="weights",
            sampler=reverb.selectors.Lifo(),
            remover=reverb.selectors.Fifo(),
            max_size=1,
            rate_limiter=reverb.rate_limiters.MinSize(1),
        ),
    ]


def run_server(port: Connection) -> None:
    """Serves until it is terminated; tells its port through the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The learner ends us.
    server = reverb.Server(replay_tables())
    port.send(server.port)
    server.wait()


# ------------------------------------------------------------------ the actors


@dataclasses.dataclass
class EpisodeReport:
    """What an actor tells of a finished episode."""

    actor: int
    steps: int
    episode_return: float


def run_actor(index: int, address: str, seed: int, reports: Any) -> None:
    """Plays for ever with the newest network, writing every transition."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    rng = np.random.default_rng((seed, index))
    env = gymnasium.make(ENVIRONMENT)
    client = reverb.Client(address)
    params = read_weights(client)
    epsilon = 1.0
    observation, _ = env.reset(seed=seed * NUM_ACTORS + index)
    with client.writer(max_sequence_length=1, max_in_flight_items=25) as writer:
        while True:
            steps, total, done = 0, 0.0, False
            while not done:
                if rng.random() < epsilon:
                    action = int(rng.integers(env.action_space.n))
                else:
                    action = greedy_action(params, observation)
                next_observation, reward, terminated, truncated, _ = env.step(action)
                writer.append(
                    {
                        "observation": observation,
                        "action": np.int32(action),
                        "reward": np.float32(reward),
                        "discount": np.float32(0 if terminated else DISCOUNT),
                        "next_observation": next_observation,
                    }
                )
                writer.create_item("replay", num_timesteps=1, priority=MAX_PRIORITY)
                observation = next_observation
                steps, total = steps + 1, total + float(reward)
                done = terminated or truncated
                epsilon = max(0.05, epsilon - 1 / 3_000)
            observation, _ = env.reset()
            reports.put(EpisodeReport(index, steps, total))
            params = read_weights(client)


def publish_weights(client: reverb.Client, params: Params) -> None:
    client.insert(params, priorities={"weights": 1.0})


def read_weights(client: reverb.Client) -> Params:
    sample = next(client.sample("weights", emit_timesteps=False))
    names = sorted(f"{kind}{layer}" for kind in "wb" for layer in range(3))
    # Data comes back flat, in the order of sorted keys, with a time axis of 1.
    return {name: column[0] for name, column in zip(names, sample.data, strict=True)}


# ----------------------------------------------------------------- the learner


@dataclasses.dataclass
class Batch:
    """Transitions with what they were sampled with; every field is `[B, ...]`."""

    keys: list[int]
    probability: np.ndarray
    table_size: int
    observation: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    discount: np.ndarray
    next_observation: np.ndarray


def read_batch(client: reverb.Client) -> Batch:
    samples = list(client.sample("replay", BATCH_SIZE, emit_timesteps=False))
    # Flat columns in the order of sorted keys, each with a time axis of 1.
    action, discount, next_observation, observation, reward = (
        np.concatenate(column) for column in zip(*(s.data for s in samples), strict=True)
    )
    return Batch(
        keys=[s.info.key for s in samples],
        probability=np.array([s.info.probability for s in samples]),
        table_size=samples[-1].info.table_size,
        observation=observation,
        action=action,
        reward=reward,
        discount=discount,
        next_observation=next_observation,
    )


class Learner:
    """Double DQN with importance-weighted Huber loss."""

    def __init__(self, seed: int, num_inputs: int, num_actions: int) -> None:
        rng = np.random.default_rng(seed)
        self.params = init_params(rng, [num_inputs, HIDDEN_UNITS, HIDDEN_UNITS, num_actions])
        self.num_steps = 0
        self._target = {k: v.copy() for k, v in self.params.items()}
        self._adam = Adam(self.params, LEARNING_RATE)

    def step(self, batch: Batch) -> np.ndarray:
        """One gradient step; returns the absolute TD errors `[B]`."""
        rows = np.arange(len(batch.action))
        best = forward(self.params, batch.next_observation)[-1].argmax(1)
        next_value = forward(self._target, batch.next_observation)[-1][rows, best]
        activations = forward(self.params, batch.observation)
        error = activations[-1][rows, batch.action] - (batch.reward + batch.discount * next_value)

        beta = 0.4 + 0.6 * min(1.0, self.num_steps / FINAL_BETA_STEP)
        weight = (batch.table_size * batch.probability) ** -beta
        weight /= weight.max()
        grad = np.zeros_like(activations[-1])
        grad[rows, batch.action] = weight * np.clip(error, -1, 1) / len(rows)
        self._adam.update(self.params, backward(self.params, activations, grad))

        self.num_steps += 1
        for key, value in self.params.items():
            self._target[key] += TARGET_RATE * (value - self._target[key])
        return np.abs(error)


def evaluate(params: Params, seed: int) -> float:
    """Mean return of `GREEDY_EPISODES` greedy episodes."""
    env = gymnasium.make(ENVIRONMENT)
    total = 0.0
    for episode in range(GREEDY_EPISODES):
        observation, _ = env.reset(seed=seed + episode)
        done = False
        while not done:
            action = greedy_action(params, observation)
            observation, reward, terminated, truncated, _ = env.step(action)
            total += float(reward)
            done = terminated or truncated
    return total / GREEDY_EPISODES


class Progress:
    """One line that tells how far things are, and who waits for whom."""

    def __init__(self, client: reverb.Client) -> None:
        self._client = client
        self._live = sys.stdout.isatty()
        self._time = self._printed = time.monotonic()
        self._samples = 0
        self._waited = (0, 0)

    def show(self, learner_steps: int, returns: collections.deque[float], greedy: float) -> None:
        now = time.monotonic()
        seconds = now - self._time
        if seconds < 1:
            return
        info = self._client.server_info()["replay"]
        samples = info.rate_limiter_info.sample_stats.completed
        worker = info.table_worker_time
        waited = (worker.waiting_for_sampling_ms, worker.waiting_for_inserts_ms)
        shares = [(b - a) / 1000 / seconds for a, b in zip(self._waited, waited, strict=True)]
        rate = (samples - self._samples) / seconds
        self._time, self._samples, self._waited = now, samples, waited

        episode_return = np.mean(returns) if returns else 0.0
        line = (
            f"step {learner_steps:6d} | return {episode_return:5.1f}, greedy {greedy:5.1f}"
            f" | {rate:7.0f} samples/s | {info.current_size:6d} items | {self._waiting(info, shares)}"
        )
        if self._live:
            print(f"\r{line:<110}", end="", flush=True)
        elif now - self._printed >= 10:
            self._printed = now
            print(line, flush=True)

    def end(self) -> None:
        if self._live:
            print()

    @staticmethod
    def _waiting(info: Any, shares: list[float]) -> str:
        actors, learner = (min(1.0, share) for share in shares)
        if info.current_size < MIN_SIZE:
            return f"learner waits for the first {MIN_SIZE} transitions"
        if max(actors, learner) < 0.05:
            return "nobody waits"
        if actors >= learner:
            return f"actors wait {actors:.0%} of the time: samples lag behind inserts"
        return f"learner waits {learner:.0%} of the time: inserts lag behind samples"


@dataclasses.dataclass
class Curve:
    """What the picture shows, by learner step."""

    episodes: list[tuple[int, float]] = dataclasses.field(default_factory=list)
    greedy: list[tuple[int, float]] = dataclasses.field(default_factory=list)

    def save(self, path: pathlib.Path) -> None:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot as plt

        figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
        if self.episodes:
            axes.plot(
                *zip(*self.episodes, strict=True), ".", ms=3, alpha=0.4, label="actors' episodes"
            )
        if self.greedy:
            mean_label = f"mean of {GREEDY_EPISODES} greedy episodes"
            axes.plot(*zip(*self.greedy, strict=True), "o-", label=mean_label)
        axes.axhline(SOLVED_RETURN, ls="--", c="gray", label=f"solved ({SOLVED_RETURN:.0f})")
        axes.set(xlabel="learner step", ylabel="return", title=f"Double DQN on {ENVIRONMENT}")
        axes.legend(loc="upper left")
        figure.savefig(path, dpi=120)
        plt.close(figure)


def learn(address: str, args: argparse.Namespace, reports: Any, children: list[Any]) -> bool:
    """Trains until solved; False if the step limit came first."""
    client = reverb.Client(address)
    env = gymnasium.make(ENVIRONMENT)
    learner = Learner(args.seed, env.observation_space.shape[0], int(env.action_space.n))
    publish_weights(client, learner.params)
    progress, curve = Progress(client), Curve()
    returns: collections.deque[float] = collections.deque(maxlen=20)
    best, greedy, solved = None, 0.0, False
    while not solved and learner.num_steps < args.max_steps:
        batch = read_batch(client)
        errors = learner.step(batch)
        priorities = np.minimum(errors + 1e-3, MAX_PRIORITY).tolist()
        client.mutate_priorities("replay", dict(zip(batch.keys, priorities, strict=True)))

        if learner.num_steps % PUBLISH_PERIOD == 0:
            publish_weights(client, learner.params)
            for child in children:
                if not child.is_alive():
                    raise RuntimeError(f"{child.name} ended with code {child.exitcode}")
        while True:
            try:
                report = reports.get_nowait()
            except queue.Empty:
                break
            returns.append(report.episode_return)
            curve.episodes.append((learner.num_steps, report.episode_return))
        if learner.num_steps % EVALUATION_PERIOD == 0:
            greedy = evaluate(learner.params, seed=1_000_000 + learner.num_steps)
            curve.greedy.append((learner.num_steps, greedy))
            best = greedy if best is None else max(best, greedy)
            solved = greedy >= SOLVED_RETURN
        progress.show(learner.num_steps, returns, greedy)
    progress.end()
    curve.save(args.curve)
    print(f"Learning curve: {args.curve}")
    if solved:
        print(f"Solved after {learner.num_steps} learner steps: greedy return {greedy:.1f}.")
    else:
        print(f"Not solved within {learner.num_steps} learner steps; best greedy return {best}.")
    return solved


def main() -> int:
    parser = argparse.ArgumentParser(description="Learns CartPole through a replay server.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-steps", type=int, default=20_000, help="learner steps")
    parser.add_argument("--curve", type=pathlib.Path, default=pathlib.Path("cartpole_dqn.png"))
    args = parser.parse_args()

    context = multiprocessing.get_context("spawn")
    reports = context.Queue()
    receiver, sender = context.Pipe(duplex=False)
    children = [context.Process(target=run_server, args=(sender,), name="server", daemon=True)]
    children[0].start()
    sender.close()
    started = time.monotonic()
    try:
        address = f"localhost:{receiver.recv()}"
        print(f"Server at {address}; {NUM_ACTORS} actors play {ENVIRONMENT}.", flush=True)
        for i in range(NUM_ACTORS):
            actor_args = (i, address, args.seed, reports)
            children.append(
                context.Process(target=run_actor, args=actor_args, name=f"actor {i}", daemon=True)
            )
            children[-1].start()
        solved = learn(address, args, reports, children)
    except KeyboardInterrupt:
        print("\nInterrupted.")
        return 130
    finally:
        for child in reversed(children):
            child.terminate()
            child.join()
    print(f"Took {time.monotonic() - started:.0f} s.")
    return 0 if solved else 1


if __name__ == "__main__":
    sys.exit(main())
