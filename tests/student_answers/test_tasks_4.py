"""The tasks of assignment 4: wrong answers as students write them, and right ones of many styles."""

import math

import numpy as np
import pytest
import torch

from helpers import checks, language
from helpers.language import LANGUAGES, say
from tests.activities.test_checks import verdict

# 1, the stream at every point


def entries_as_points(hidden_states, last_block):
    lengths = []
    for layer in hidden_states:
        lengths.append(torch.sqrt((layer**2).sum(dim=-1)))
    return torch.stack(lengths)


def without_the_last_entry(hidden_states, last_block):
    return [torch.linalg.norm(h, dim=-1) for h in hidden_states[:-1]]


def blocks_from_index_one(hidden_states, last_block):
    return torch.stack([torch.linalg.vector_norm(hidden_states[i + 1], dim=-1) for i in range(len(hidden_states) - 1)])


def appended_to_all_entries(hidden_states, last_block):
    points = list(hidden_states)
    points.append(last_block(points[-2]))
    return torch.stack([p.norm(dim=-1) for p in points])


def last_block_on_the_last_entry(hidden_states, last_block):
    *before, after = hidden_states
    return [p.pow(2).sum(-1).sqrt() for p in [*before, last_block(after)]]


def adds_the_stream_again(hidden_states, last_block):
    x = hidden_states[-2]
    points = [*hidden_states[:-1], x + last_block(x)]
    return torch.stack(points).norm(dim=-1)


def shifted_by_one(hidden_states, last_block):
    raw = last_block(hidden_states[-2])
    return torch.stack([h.norm(dim=-1) for h in hidden_states[1:]] + [raw.norm(dim=-1)])


def mean_instead_of_sum(hidden_states, last_block):
    points = list(hidden_states[:-1]) + [last_block(hidden_states[-2])]
    return torch.stack([torch.sqrt(torch.mean(h**2, dim=-1)) for h in points])


def root_forgotten(hidden_states, last_block):
    points = torch.stack([*hidden_states[:-1], last_block(hidden_states[-2])])
    return torch.einsum("nbtd,nbtd->nbt", points, points)


def along_the_tokens(hidden_states, last_block):
    points = torch.stack([*hidden_states[:-1], last_block(hidden_states[-2])])
    return points.norm(dim=2)


def one_number_for_a_point(hidden_states, last_block):
    points = [*hidden_states[:-1], last_block(hidden_states[-2])]
    return torch.tensor([p.norm() for p in points])


def only_the_last_token(hidden_states, last_block):
    points = torch.stack([*hidden_states[:-1], last_block(hidden_states[-2])])
    return points[:, :, -1, :].norm(dim=-1)


def right_lengths_in_loops(hidden_states, last_block):
    points = list(hidden_states)
    points[-1] = last_block(points[-2])
    examples, tokens, d = points[0].shape
    lengths = torch.zeros(len(points), examples, tokens)
    for n, point in enumerate(points):
        for b in range(examples):
            for t in range(tokens):
                lengths[n, b, t] = math.sqrt(sum(point[b, t, i].item() ** 2 for i in range(d)))
    return lengths


def right_lengths_by_einsum(hidden_states, last_block):
    points = torch.stack([*hidden_states[:-1], last_block(hidden_states[-2])])
    return torch.einsum("nbtd,nbtd->nbt", points, points).sqrt()


def right_lengths_by_numpy(hidden_states, last_block):
    points = [h.numpy() for h in (*hidden_states[:-1], last_block(hidden_states[-2]))]
    return np.linalg.norm(np.stack(points), axis=-1)


def right_lengths_as_lists(hidden_states, last_block):
    points = [*hidden_states[:-1], last_block(hidden_states[-2])]
    return [torch.linalg.vector_norm(p, dim=2).tolist() for p in points]


def right_lengths_from_the_mean_square(hidden_states, last_block):
    points = (*hidden_states[:-1], last_block(hidden_states[-2]))
    return tuple((h.square().mean(-1) * h.shape[-1]).sqrt() for h in points)


def right_lengths_from_variance_and_mean(hidden_states, last_block):
    points = torch.stack([*hidden_states[:-1], last_block(hidden_states[-2])])
    mean_square = points.var(-1, correction=0) + points.mean(-1) ** 2
    return (mean_square * points.shape[-1]).sqrt()


def right_lengths_in_place_on_a_copy(hidden_states, last_block):
    points = torch.stack(hidden_states).clone()
    points[-1] = last_block(points[-2].clone())
    return points.square_().sum(-1).sqrt_()


def right_lengths_in_double(hidden_states, last_block):
    raw = last_block(hidden_states[-2]).double()
    return torch.cat([torch.stack(hidden_states[:-1]).double(), raw[None]]).norm(p=2, dim=-1)


# 2, the logit lens


def norm_on_every_entry(hidden_states, final_norm, output):
    return torch.stack([final_norm(h) @ output.T for h in hidden_states])


def norm_on_no_entry(hidden_states, final_norm, output):
    return [torch.nn.functional.linear(h, output) for h in hidden_states]


def norm_on_the_last_entry(hidden_states, final_norm, output):
    logits = []
    for i, h in enumerate(hidden_states):
        if i == len(hidden_states) - 1:
            h = final_norm(h)
        logits.append(h @ output.T)
    return logits


def stops_early(hidden_states, final_norm, output):
    return torch.stack([final_norm(hidden_states[i]) @ output.T for i in range(len(hidden_states) - 1)])


def starts_after_block_1(hidden_states, final_norm, output):
    logits = [final_norm(h) @ output.T for h in hidden_states[1:-1]]
    logits.append(hidden_states[-1] @ output.T)
    return logits


def shifted_and_twice(hidden_states, final_norm, output):
    return [torch.einsum("btd,vd->btv", final_norm(h), output) for h in hidden_states[1:]]


def with_softmax(hidden_states, final_norm, output):
    return [torch.softmax(logits, dim=-1) for logits in right_lens_in_a_loop(hidden_states, final_norm, output)]


def with_argmax(hidden_states, final_norm, output):
    return torch.stack(right_lens_in_a_loop(hidden_states, final_norm, output)).argmax(dim=-1)


def with_a_norm_of_its_own(hidden_states, final_norm, output):
    logits = []
    for h in hidden_states[:-1]:
        centred = h - h.mean(-1, keepdim=True)
        logits.append(centred / (centred.square().mean(-1, keepdim=True) + 0.1).sqrt() @ output.T)
    return [*logits, hidden_states[-1] @ output.T]


def right_lens_in_a_loop(hidden_states, final_norm, output):
    logits = []
    for i, h in enumerate(hidden_states):
        if i < len(hidden_states) - 1:
            h = final_norm(h)
        logits.append(h @ output.T)
    return logits


def right_lens_stacked(hidden_states, final_norm, output):
    x = torch.cat([final_norm(torch.stack(hidden_states[:-1])), hidden_states[-1][None]])
    return torch.einsum("nbtd,vd->nbtv", x, output)


def right_lens_by_linear(hidden_states, final_norm, output):
    *stream, last = hidden_states
    return tuple(torch.nn.functional.linear(x, output) for x in [*map(final_norm, stream), last])


def right_lens_by_numpy(hidden_states, final_norm, output):
    x = [final_norm(h).numpy() for h in hidden_states[:-1]] + [hidden_states[-1].numpy()]
    return np.stack(x) @ output.numpy().T


def right_lens_token_by_token(hidden_states, final_norm, output):
    read = [final_norm(h) for h in hidden_states[:-1]] + [hidden_states[-1]]
    return [torch.stack([torch.stack([output @ token for token in example]) for example in x]) for x in read]


def right_lens_in_place_on_a_copy(hidden_states, final_norm, output):
    x = torch.stack(hidden_states)
    x[:-1] = final_norm(x[:-1].clone())
    return x.matmul(output.t())


def right_lens_other_order(hidden_states, final_norm, output):
    logits = [hidden_states[-1] @ output.T]
    for h in reversed(hidden_states[:-1]):
        logits.insert(0, (output @ final_norm(h).mT).mT)
    return logits


# 3, one factor


def root_of_the_points(lengths):
    n = lengths.shape[0]
    first = (lengths[-1, 0] / lengths[0, 0]) ** (1 / n)
    later = lengths[:, 1:].mean(dim=1)
    return first.item(), ((later[-1] / later[0]) ** (1 / n)).item()


def eleven_for_twelve(lengths):
    n = len(lengths) - 1
    later = lengths[:, 1:].mean(1)
    return tuple((x[n - 1] / x[0]).item() ** (1 / n) for x in (lengths[:, 0], later))


def begins_after_block_1(lengths):
    first, later = lengths[1:, 0], lengths[1:, 1:].mean(1)
    n = len(first) - 1
    return float((first[-1] / first[0]) ** (1 / n)), float((later[-1] / later[0]) ** (1 / n))


def all_blocks_together(lengths):
    return lengths[-1, 0] / lengths[0, 0], lengths[-1, 1:].mean() / lengths[0, 1:].mean()


def mean_of_the_steps(lengths):
    later = lengths[:, 1:].mean(1)
    result = []
    for x in (lengths[:, 0], later):
        steps = [x[i + 1] / x[i] for i in range(len(x) - 1)]
        result.append(sum(steps) / len(steps))
    return tuple(result)


def total_over_blocks(lengths):
    n = len(lengths) - 1
    return [(x[-1] / x[0] / n).item() for x in (lengths[:, 0], lengths[:, 1:].mean(1))]


def position_0_in_the_mean(lengths):
    n = len(lengths) - 1
    return [((x[-1] / x[0]) ** (1 / n)).item() for x in (lengths[:, 0], lengths.mean(dim=-1))]


def upside_down(lengths):
    n = len(lengths) - 1
    return [((x[0] / x[-1]) ** (1 / n)).item() for x in (lengths[:, 0], lengths[:, 1:].mean(1))]


def forgets_exp(lengths):
    x = torch.stack([lengths[:, 0], lengths[:, 1:].mean(1)])
    return x.log().diff(dim=1).mean(1)


def factor_of_each_token(lengths):
    g = (lengths[-1] / lengths[0]) ** (1 / (len(lengths) - 1))
    return g[0], g[1:].mean()


def rows_for_tokens(lengths):
    n = lengths.shape[1] - 1
    first, later = lengths[0], lengths[1:].mean(0)
    return (first[-1] / first[0]) ** (1 / n), (later[-1] / later[0]) ** (1 / n)


def right_factor_plain(lengths):
    n = lengths.shape[0] - 1
    later = lengths[:, 1:].mean(dim=1)
    return (lengths[n, 0] / lengths[0, 0]) ** (1 / n), (later[n] / later[0]) ** (1 / n)


def right_factor_by_logarithms(lengths):
    x = torch.stack([lengths[:, 0], lengths[:, 1:].mean(1)])
    return x.log().diff(dim=1).mean(1).exp()


def right_factor_by_steps(lengths):
    result = []
    for x in (lengths[:, 0], lengths[:, 1:].mean(1)):
        steps = x[1:] / x[:-1]
        result.append(steps.prod().item() ** (1 / len(steps)))
    return result


def right_factor_by_numpy(lengths):
    x = lengths.numpy()
    first, later = x[:, 0], np.mean(x[:, 1:], axis=1)
    n = len(x) - 1
    return np.power([first[-1] / first[0], later[-1] / later[0]], 1 / n)


def right_factor_in_plain_python(lengths):
    rows = lengths.tolist()
    n, later = len(rows) - 1, [sum(row[1:]) / len(row[1:]) for row in rows]
    return math.exp(math.log(rows[n][0] / rows[0][0]) / n), math.exp(math.log(later[n] / later[0]) / n)


def right_factor_from_sums(lengths):
    """The number of later tokens cancels in the ratio of the means."""
    ratio = torch.stack([lengths[-1, 0] / lengths[0, 0], lengths[-1, 1:].sum() / lengths[0, 1:].sum()])
    return ratio.pow(1 / (lengths.size(0) - 1)).tolist()


def right_factor_in_place_on_a_copy(lengths):
    x = lengths.clone()
    x[:, 1] = x[:, 1:].mean(1)
    x /= x[0].clone()
    return x[-1, :2] ** (1 / (len(x) - 1))


# 4, who wrote most

KINDS = ("attention", "mlp")


def lengthens_most(stream, position):
    lengths = torch.stack([x[position].norm() for x in stream])
    i = lengths.diff().argmax().item()
    return KINDS[i % 2], i // 2 + 1


def changes_the_length_most(stream, position):
    best, answer = -1, None
    for i in range(1, len(stream)):
        change = abs(stream[i][position].norm() - stream[i - 1][position].norm())
        if change > best:
            best, answer = change, (KINDS[(i - 1) % 2], (i + 1) // 2)
    return answer


def multiplies_most(stream, position):
    lengths = torch.stack([x[position].norm() for x in stream])
    i = (lengths[1:] / lengths[:-1]).argmax().item()
    return KINDS[i % 2], i // 2 + 1


def longest_afterwards(stream, position):
    lengths = [x[position].norm().item() for x in stream[1:]]
    i = lengths.index(max(lengths))
    return KINDS[i % 2], i // 2 + 1


def counts_blocks_from_zero(stream, position):
    i = torch.stack(stream).diff(dim=0)[:, position].norm(dim=-1).argmax().item()
    return KINDS[i % 2], i // 2


def counts_sublayers(stream, position):
    i = torch.stack(stream).diff(dim=0)[:, position].norm(dim=-1).argmax().item() + 1
    return ("attention" if i % 2 else "mlp"), i


def mlp_first(stream, position):
    i = torch.stack(stream).diff(dim=0)[:, position].norm(dim=-1).argmax().item()
    return ("mlp" if i % 2 == 0 else "attention"), i // 2 + 1


def always_the_last_token(stream, position):
    i = torch.stack(stream).diff(dim=0)[:, -1].norm(dim=-1).argmax().item()
    return KINDS[i % 2], i // 2 + 1


def all_tokens_at_once(stream, position):
    writes = [torch.linalg.norm(after - before) for before, after in zip(stream[:-1], stream[1:])]
    i = int(torch.tensor(writes).argmax())
    return KINDS[i % 2], i // 2 + 1


def largest_number(stream, position):
    i = torch.stack(stream).diff(dim=0)[:, position].abs().amax(-1).argmax().item()
    return KINDS[i % 2], i // 2 + 1


def right_write_by_diff(stream, position):
    i = torch.stack(stream).diff(dim=0)[:, position].norm(dim=-1).argmax()
    return KINDS[i % 2], i // 2 + 1  # the block as a tensor


def right_write_in_a_loop(stream, position):
    best = (-1.0, None)
    for n in range(1, len(stream) // 2 + 1):
        for kind, i in (("attention", 2 * n - 1), ("mlp", 2 * n)):
            write = stream[i][position] - stream[i - 1][position]
            best = max(best, (write.norm().item(), (kind, n)))
    return best[1]


def right_write_by_numpy(stream, position):
    x = np.stack([s.numpy()[position] for s in stream])
    block, kind = divmod(np.linalg.norm(np.diff(x, axis=0), axis=1).argmax(), 2)
    return [KINDS[kind], block + 1]


def right_write_by_squares(stream, position):
    x = torch.stack(stream)[:, position]
    write = x[1:] - x[:-1]
    i = torch.einsum("nd,nd->n", write, write).argmax().item()
    return KINDS[i % 2], 1 + i // 2


def right_write_by_names(stream, position):
    names = [(kind, n + 1) for n in range(len(stream) // 2) for kind in KINDS]
    writes = {name: torch.dist(a[position], b[position]) for name, a, b in zip(names, stream, stream[1:])}
    return max(writes, key=writes.get)


def right_write_by_two_lists(stream, position):
    x = torch.stack(stream)[:, position]
    attention, mlp = (x[1::2] - x[:-1:2]).norm(dim=-1), (x[2::2] - x[1::2]).norm(dim=-1)
    if attention.max() > mlp.max():
        return "attention", attention.argmax().item() + 1
    return "mlp", mlp.argmax().item() + 1


def right_write_by_cosines(stream, position):
    """b² + a² − 2ab cos, as in lesson 4."""
    x = torch.stack(stream)[:, position].double()
    a, b = x[:-1], x[1:]
    lengths = a.norm(dim=-1) ** 2 + b.norm(dim=-1) ** 2 - 2 * (a * b).sum(-1)
    i = lengths.argmax().item()
    return KINDS[i % 2], i // 2 + 1


def right_write_in_place_on_a_copy(stream, position):
    x = torch.stack(stream)[:, position].clone()
    x[1:] -= x[:-1].clone()
    i = int(x[1:].norm(dim=-1).argmax())
    return KINDS[i % 2], i // 2 + 1


# the same mistakes in other styles, and rarer ones


def points(hidden_states, last_block):
    return [*hidden_states[:-1], last_block(hidden_states[-2])]


def keeps_the_axis(hidden_states, last_block):
    return [torch.norm(p, dim=-1, keepdim=True) for p in points(hidden_states, last_block)]


def index_0_first(hidden_states, last_block):
    return torch.stack([p[0].norm(dim=-1) for p in points(hidden_states, last_block)])


def no_length(hidden_states, last_block):
    return torch.stack(points(hidden_states, last_block))


def l1(hidden_states, last_block):
    return [torch.linalg.vector_norm(p, ord=1, dim=-1) for p in points(hidden_states, last_block)]


def range_from_one(hidden_states, last_block):
    lengths = [hidden_states[i].norm(dim=-1) for i in range(1, len(hidden_states) - 1)]
    return torch.stack([*lengths, last_block(hidden_states[-2]).norm(dim=-1)])


def what_the_last_block_adds(hidden_states, last_block):
    before = hidden_states[-2]
    write = last_block(before) - before
    return torch.stack([*hidden_states[:-1], write]).norm(dim=-1)


def stacked_at_the_end(hidden_states, last_block):
    return torch.stack([torch.sqrt((p**2).sum(dim=-1)) for p in points(hidden_states, last_block)], dim=-1)


def embedding_as_it_is(hidden_states, final_norm, output):
    first, *middle, last = hidden_states
    return [p @ output.T for p in (first, *map(final_norm, middle), last)]


def norm_on_every_entry_and_softmax(hidden_states, final_norm, output):
    return [torch.softmax(final_norm(p) @ output.T, dim=-1) for p in hidden_states]


def with_log_softmax(hidden_states, final_norm, output):
    logits = torch.stack(right_lens_in_a_loop(hidden_states, final_norm, output))
    return logits - torch.logsumexp(logits, dim=-1, keepdim=True)


def norm_on_every_entry_and_log_softmax(hidden_states, final_norm, output):
    return [torch.nn.functional.log_softmax(final_norm(p) @ output.T, dim=-1) for p in hidden_states]


def norm_on_every_entry_and_argmax(hidden_states, final_norm, output):
    return torch.stack([(final_norm(p) @ output.T).max(dim=-1).indices for p in hidden_states])


def only_the_next_token(hidden_states, final_norm, output):
    last = [h[:, -1, :] for h in hidden_states]
    return torch.stack([*(final_norm(x) @ output.T for x in last[:-1]), last[-1] @ output.T])


def per_cent(lengths):
    g = the_factor(lengths)
    return g[0] - 1, g[1] - 1


def the_factor(lengths, blocks=None, last=lambda curve: curve[-1]):
    curves = lengths[:, 0], lengths[:, 1:].mean(dim=1)
    return [(last(curve) / curve[0]).item() ** (1 / (blocks or len(lengths) - 1)) for curve in curves]


def blocks_of_the_notebook(lengths):
    return the_factor(lengths, blocks=12)


def up_to_the_peak(lengths):
    return the_factor(lengths, last=max)


def position_1_as_the_later(lengths):
    steps = len(lengths) - 1
    return [(lengths[-1, token] / lengths[0, token]) ** (1 / steps) for token in (0, 1)]


def last_position_as_the_later(lengths):
    ratio = lengths[-1] / lengths[0]
    return tuple((ratio[token] ** (1 / (len(lengths) - 1))).item() for token in (0, -1))


def rows_for_tokens_and_blocks_counted_rightly(lengths):
    n = len(lengths) - 1
    return [((x[-1] / x[0]) ** (1 / n)).item() for x in (lengths[0], lengths[1:].mean(dim=0))]


def up_to_the_last_row_but_one(lengths):
    return the_factor(lengths[:-1])


def added_by_a_block(lengths):
    later = lengths[:, 1:].mean(dim=1)
    return lengths[:, 0].diff().mean().item(), later.diff().mean().item()


def later_first(lengths):
    n = lengths.shape[0] - 1
    later = lengths[:, 1:].mean(dim=1)
    return (later[-1] / later[0]) ** (1 / n), (lengths[-1, 0] / lengths[0, 0]) ** (1 / n)


def mlp_in_capitals(stream, position):
    kind, block = right_write_in_place_on_a_copy(stream, position)
    return kind.replace("mlp", "MLP"), block


def capitals(stream, position):
    kind, block = right_write_in_place_on_a_copy(stream, position)
    return {"attention": "Attention", "mlp": "MLP"}[kind], block


def capitalised(stream, position):
    kind, block = right_write_in_place_on_a_copy(stream, position)
    return kind.capitalize(), block


def all_in_capitals(stream, position):
    kind, block = right_write_in_place_on_a_copy(stream, position)
    return kind.upper(), block


def block_and_kind(stream, position):
    return right_write_in_place_on_a_copy(stream, position)[::-1]


def compared_with_the_stream(stream, position):
    shares = []
    for before, after in zip(stream, stream[1:]):
        shares.append(((after - before)[position].norm() / before[position].norm()).item())
    i = shares.index(max(shares))
    return KINDS[i % 2], i // 2 + 1


def index_for_block(stream, position):
    writes = [(stream[i + 1][position] - stream[i][position]).norm() for i in range(len(stream) - 1)]
    i = int(np.argmax(writes))
    return ("attention" if i % 2 == 0 else "mlp"), i


def index_of_the_difference_as_point(stream, position):
    """In `stream`, 0 is the embedding, 1 the attention of block 1, 2 its MLP."""
    x = torch.stack(stream)[:, position]
    point = (x[1:] - x[:-1]).norm(dim=-1).argmax().item()
    return ("attention" if point % 2 == 1 else "mlp"), (point + 1) // 2


WRONG = {
    "stream-lengths": {
        range_from_one: "embedding-missing",
        what_the_last_block_adds: "last-write",
        stacked_at_the_end: "points-on-the-last-axis",
        keeps_the_axis: "axis-kept",
        index_0_first: "first-example-only",
        no_length: "vectors",
        l1: "absolute-sum",
        entries_as_points: "final-norm-as-last-block",
        without_the_last_entry: "last-block-missing",
        blocks_from_index_one: "one-index-too-far",
        appended_to_all_entries: "one-too-many",
        last_block_on_the_last_entry: "block-after-final-norm",
        adds_the_stream_again: "residual-twice",
        shifted_by_one: "embedding-missing-and-final-norm",
        mean_instead_of_sum: "root-mean-square",
        root_forgotten: "squared",
        along_the_tokens: "over-tokens",
        one_number_for_a_point: "whole-tensor",
        only_the_last_token: "last-token-only",
    },
    "logit-lens": {
        with_log_softmax: "log-probabilities",
        norm_on_every_entry_and_log_softmax: "log-probabilities",
        norm_on_every_entry_and_argmax: "token-ids",
        only_the_next_token: "last-token-only",
        embedding_as_it_is: "embedding-not-normalised",
        norm_on_every_entry_and_softmax: "probabilities",
        norm_on_every_entry: "final-norm-twice",
        norm_on_no_entry: "no-final-norm",
        norm_on_the_last_entry: "final-norm-only-at-the-end",
        stops_early: "last-entry-missing",
        starts_after_block_1: "embedding-missing",
        shifted_and_twice: "embedding-missing-and-twice",
        with_softmax: "probabilities",
        with_argmax: "token-ids",
        with_a_norm_of_its_own: "final-norm-forgets-gain",
    },
    "growth-factor": {
        last_position_as_the_later: "last-token-as-the-later",
        rows_for_tokens_and_blocks_counted_rightly: "axes-swapped",
        up_to_the_last_row_but_one: "last-block-left-out",
        added_by_a_block: "increments",
        later_first: "order-swapped",
        per_cent: "growth-without-the-1",
        blocks_of_the_notebook: "twelve-blocks",
        up_to_the_peak: "longest-for-last",
        position_1_as_the_later: "last-token-as-the-later",
        root_of_the_points: "fence-post",
        eleven_for_twelve: "one-block-short",
        begins_after_block_1: "first-block-left-out",
        all_blocks_together: "no-root",
        mean_of_the_steps: "arithmetic-mean",
        total_over_blocks: "divided-by-blocks",
        position_0_in_the_mean: "position-0-among-the-later",
        upside_down: "inverse",
        forgets_exp: "logarithm",
        factor_of_each_token: "mean-of-factors",
        rows_for_tokens: "axes-swapped",
    },
    "largest-write": {
        capitals: "kind-with-capitals",
        mlp_in_capitals: "kind-with-capitals",
        capitalised: "kind-with-capitals",
        all_in_capitals: "kind-with-capitals",
        compared_with_the_stream: "share-of-the-stream",
        index_for_block: "sublayer-index",
        index_of_the_difference_as_point: "point-before",
        block_and_kind: "block-first",
        lengthens_most: "difference-of-lengths",
        changes_the_length_most: "size-of-the-difference-of-lengths",
        multiplies_most: "growth-factor",
        longest_afterwards: "longest-stream",
        counts_blocks_from_zero: "block-from-zero",
        counts_sublayers: "sublayer-number",
        mlp_first: "kinds-swapped",
        always_the_last_token: "last-token",
        all_tokens_at_once: "all-tokens",
        largest_number: "largest-feature",
    },
}
RIGHT = {
    task: [function for name, function in list(globals().items()) if name.startswith(f"right_{start}_")]
    for task, start in zip(WRONG, ("lengths", "lens", "factor", "write"))
}


@pytest.mark.parametrize(
    ("task", "answer"), [pytest.param(task, answer, id=answer.__name__) for task in WRONG for answer in WRONG[task]]
)
def test_a_wrong_answer_gets_the_sentence_of_its_mistake(task, answer):
    [mistake] = [m for m in checks._TASKS[task]["mistakes"] if m["name"] == WRONG[task][answer]]
    for reader in LANGUAGES:
        language.use(reader)
        for seed in range(5):
            assert verdict(task, answer, seed) == mistake[reader]


@pytest.mark.parametrize("task", WRONG)
def test_every_known_mistake_has_an_answer_here(task):
    assert set(WRONG[task].values()) == {mistake["name"] for mistake in checks._TASKS[task]["mistakes"]}


@pytest.mark.parametrize(
    ("task", "answer"), [pytest.param(task, answer, id=answer.__name__) for task in RIGHT for answer in RIGHT[task]]
)
def test_a_right_answer_of_any_style_passes(task, answer):
    for seed in range(5):
        assert verdict(task, answer, seed) == say("check.right")


def test_every_task_has_enough_answers_of_both_sorts():
    assert all(len(WRONG[task]) >= 5 and len(RIGHT[task]) >= 6 for task in WRONG)


@pytest.mark.parametrize("task", WRONG)
def test_the_untouched_stub_is_not_done_yet(task):
    def stub(*_, **__): ...

    for reader in LANGUAGES:
        language.use(reader)
        assert verdict(task, stub) == say("check.not_done")


@pytest.mark.parametrize("answer", [torch.tensor(1.0), np.float64(1), str, list, iter([]), (1,), ("mlp",), {"a": 1}])
@pytest.mark.parametrize("task", WRONG)
def test_any_result_ends_in_a_sentence(task, answer):
    assert verdict(task, lambda **_: answer) not in ("", say("check.right"))


def test_mistakes_differ_from_the_right_answer_and_from_one_another_for_many_seeds():
    """The answers are discrete or close together in places, so a few seeds prove little."""
    for task in WRONG:
        entry = checks._TASKS[task]
        for seed in range(5, 15):
            for mistake in entry["mistakes"]:
                answer = lambda wrong=mistake["wrong"], **case: eval(
                    wrong, {"torch": torch, "F": torch.nn.functional} | case
                )
                assert verdict(task, answer, seed) == mistake[language.current], (task, mistake["name"])
