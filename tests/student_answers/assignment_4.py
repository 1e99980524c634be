"""Answers to assignment 4, the residual stream, as students write them."""

import math
from fractions import Fraction

import numpy as np
import torch

from . import right, told, wrong

# stream-lengths


@wrong("stream-lengths", "final-norm-as-last-block")
def entries_as_points(hidden_states, last_block):
    lengths = []
    for layer in hidden_states:
        lengths.append(torch.sqrt((layer**2).sum(dim=-1)))
    return torch.stack(lengths)


@wrong("stream-lengths", "last-block-missing")
def without_the_last_entry(hidden_states, last_block):
    return [torch.linalg.norm(h, dim=-1) for h in hidden_states[:-1]]


@wrong("stream-lengths", "one-index-too-far")
def blocks_from_index_one(hidden_states, last_block):
    return torch.stack([torch.linalg.vector_norm(hidden_states[i + 1], dim=-1) for i in range(len(hidden_states) - 1)])


@wrong("stream-lengths", "one-too-many")
def appended_to_all_entries(hidden_states, last_block):
    points = list(hidden_states)
    points.append(last_block(points[-2]))
    return torch.stack([p.norm(dim=-1) for p in points])


@wrong("stream-lengths", "block-after-final-norm")
def last_block_on_the_last_entry(hidden_states, last_block):
    *before, after = hidden_states
    return [p.pow(2).sum(-1).sqrt() for p in [*before, last_block(after)]]


@wrong("stream-lengths", "residual-twice")
def adds_the_stream_again(hidden_states, last_block):
    x = hidden_states[-2]
    points = [*hidden_states[:-1], x + last_block(x)]
    return torch.stack(points).norm(dim=-1)


@wrong("stream-lengths", "embedding-missing-and-final-norm")
def shifted_by_one(hidden_states, last_block):
    raw = last_block(hidden_states[-2])
    return torch.stack([h.norm(dim=-1) for h in hidden_states[1:]] + [raw.norm(dim=-1)])


@wrong("stream-lengths", "root-mean-square")
def mean_instead_of_sum(hidden_states, last_block):
    points = list(hidden_states[:-1]) + [last_block(hidden_states[-2])]
    return torch.stack([torch.sqrt(torch.mean(h**2, dim=-1)) for h in points])


@wrong("stream-lengths", "squared")
def root_forgotten(hidden_states, last_block):
    points = torch.stack([*hidden_states[:-1], last_block(hidden_states[-2])])
    return torch.einsum("nbtd,nbtd->nbt", points, points)


@wrong("stream-lengths", "over-tokens")
def along_the_tokens(hidden_states, last_block):
    points = torch.stack([*hidden_states[:-1], last_block(hidden_states[-2])])
    return points.norm(dim=2)


@wrong("stream-lengths", "whole-tensor")
def one_number_for_a_point(hidden_states, last_block):
    points = [*hidden_states[:-1], last_block(hidden_states[-2])]
    return torch.tensor([p.norm() for p in points])


@wrong("stream-lengths", "last-token-only")
def only_the_last_token(hidden_states, last_block):
    points = torch.stack([*hidden_states[:-1], last_block(hidden_states[-2])])
    return points[:, :, -1, :].norm(dim=-1)


@right("stream-lengths")
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


@right("stream-lengths")
def right_lengths_by_einsum(hidden_states, last_block):
    points = torch.stack([*hidden_states[:-1], last_block(hidden_states[-2])])
    return torch.einsum("nbtd,nbtd->nbt", points, points).sqrt()


@right("stream-lengths")
def right_lengths_by_numpy(hidden_states, last_block):
    points = [h.numpy() for h in (*hidden_states[:-1], last_block(hidden_states[-2]))]
    return np.linalg.norm(np.stack(points), axis=-1)


@right("stream-lengths")
def right_lengths_as_lists(hidden_states, last_block):
    points = [*hidden_states[:-1], last_block(hidden_states[-2])]
    return [torch.linalg.vector_norm(p, dim=2).tolist() for p in points]


@right("stream-lengths")
def right_lengths_from_the_mean_square(hidden_states, last_block):
    points = (*hidden_states[:-1], last_block(hidden_states[-2]))
    return tuple((h.square().mean(-1) * h.shape[-1]).sqrt() for h in points)


@right("stream-lengths")
def right_lengths_from_variance_and_mean(hidden_states, last_block):
    points = torch.stack([*hidden_states[:-1], last_block(hidden_states[-2])])
    mean_square = points.var(-1, correction=0) + points.mean(-1) ** 2
    return (mean_square * points.shape[-1]).sqrt()


@right("stream-lengths")
def right_lengths_in_place_on_a_copy(hidden_states, last_block):
    points = torch.stack(hidden_states).clone()
    points[-1] = last_block(points[-2].clone())
    return points.square_().sum(-1).sqrt_()


@right("stream-lengths")
def right_lengths_in_double(hidden_states, last_block):
    raw = last_block(hidden_states[-2]).double()
    return torch.cat([torch.stack(hidden_states[:-1]).double(), raw[None]]).norm(p=2, dim=-1)


def points(hidden_states, last_block):
    return [*hidden_states[:-1], last_block(hidden_states[-2])]


@wrong("stream-lengths", "axis-kept")
def keeps_the_axis(hidden_states, last_block):
    return [torch.norm(p, dim=-1, keepdim=True) for p in points(hidden_states, last_block)]


@wrong("stream-lengths", "first-example-only")
def index_0_first(hidden_states, last_block):
    return torch.stack([p[0].norm(dim=-1) for p in points(hidden_states, last_block)])


@wrong("stream-lengths", "vectors")
def no_length(hidden_states, last_block):
    return torch.stack(points(hidden_states, last_block))


@wrong("stream-lengths", "absolute-sum")
def l1(hidden_states, last_block):
    return [torch.linalg.vector_norm(p, ord=1, dim=-1) for p in points(hidden_states, last_block)]


@wrong("stream-lengths", "embedding-missing")
def range_from_one(hidden_states, last_block):
    lengths = [hidden_states[i].norm(dim=-1) for i in range(1, len(hidden_states) - 1)]
    return torch.stack([*lengths, last_block(hidden_states[-2]).norm(dim=-1)])


@wrong("stream-lengths", "last-write")
def what_the_last_block_adds(hidden_states, last_block):
    before = hidden_states[-2]
    write = last_block(before) - before
    return torch.stack([*hidden_states[:-1], write]).norm(dim=-1)


@wrong("stream-lengths", "points-on-the-last-axis")
def stacked_at_the_end(hidden_states, last_block):
    return torch.stack([torch.sqrt((p**2).sum(dim=-1)) for p in points(hidden_states, last_block)], dim=-1)


# logit-lens


@wrong("logit-lens", "final-norm-twice")
def norm_on_every_entry(hidden_states, final_norm, output):
    return torch.stack([final_norm(h) @ output.T for h in hidden_states])


@wrong("logit-lens", "no-final-norm")
def norm_on_no_entry(hidden_states, final_norm, output):
    return [torch.nn.functional.linear(h, output) for h in hidden_states]


@wrong("logit-lens", "final-norm-only-at-the-end")
def norm_on_the_last_entry(hidden_states, final_norm, output):
    logits = []
    for i, h in enumerate(hidden_states):
        if i == len(hidden_states) - 1:
            h = final_norm(h)
        logits.append(h @ output.T)
    return logits


@wrong("logit-lens", "last-entry-missing")
def stops_early(hidden_states, final_norm, output):
    return torch.stack([final_norm(hidden_states[i]) @ output.T for i in range(len(hidden_states) - 1)])


@wrong("logit-lens", "embedding-missing")
def starts_after_block_1(hidden_states, final_norm, output):
    logits = [final_norm(h) @ output.T for h in hidden_states[1:-1]]
    logits.append(hidden_states[-1] @ output.T)
    return logits


@wrong("logit-lens", "embedding-missing-and-twice")
def shifted_and_twice(hidden_states, final_norm, output):
    return [torch.einsum("btd,vd->btv", final_norm(h), output) for h in hidden_states[1:]]


@wrong("logit-lens", "probabilities")
def with_softmax(hidden_states, final_norm, output):
    return [torch.softmax(logits, dim=-1) for logits in right_lens_in_a_loop(hidden_states, final_norm, output)]


@wrong("logit-lens", "token-ids")
def with_argmax(hidden_states, final_norm, output):
    return torch.stack(right_lens_in_a_loop(hidden_states, final_norm, output)).argmax(dim=-1)


@wrong("logit-lens", "final-norm-forgets-gain")
def with_a_norm_of_its_own(hidden_states, final_norm, output):
    logits = []
    for h in hidden_states[:-1]:
        centred = h - h.mean(-1, keepdim=True)
        logits.append(centred / (centred.square().mean(-1, keepdim=True) + 0.1).sqrt() @ output.T)
    return [*logits, hidden_states[-1] @ output.T]


@right("logit-lens")
def right_lens_in_a_loop(hidden_states, final_norm, output):
    logits = []
    for i, h in enumerate(hidden_states):
        if i < len(hidden_states) - 1:
            h = final_norm(h)
        logits.append(h @ output.T)
    return logits


@right("logit-lens")
def right_lens_stacked(hidden_states, final_norm, output):
    x = torch.cat([final_norm(torch.stack(hidden_states[:-1])), hidden_states[-1][None]])
    return torch.einsum("nbtd,vd->nbtv", x, output)


@right("logit-lens")
def right_lens_by_linear(hidden_states, final_norm, output):
    *stream, last = hidden_states
    return tuple(torch.nn.functional.linear(x, output) for x in [*map(final_norm, stream), last])


@right("logit-lens")
def right_lens_by_numpy(hidden_states, final_norm, output):
    x = [final_norm(h).numpy() for h in hidden_states[:-1]] + [hidden_states[-1].numpy()]
    return np.stack(x) @ output.numpy().T


@right("logit-lens")
def right_lens_token_by_token(hidden_states, final_norm, output):
    read = [final_norm(h) for h in hidden_states[:-1]] + [hidden_states[-1]]
    return [torch.stack([torch.stack([output @ token for token in example]) for example in x]) for x in read]


@right("logit-lens")
def right_lens_in_place_on_a_copy(hidden_states, final_norm, output):
    x = torch.stack(hidden_states)
    x[:-1] = final_norm(x[:-1].clone())
    return x.matmul(output.t())


@right("logit-lens")
def right_lens_other_order(hidden_states, final_norm, output):
    logits = [hidden_states[-1] @ output.T]
    for h in reversed(hidden_states[:-1]):
        logits.insert(0, (output @ final_norm(h).mT).mT)
    return logits


@wrong("logit-lens", "embedding-not-normalised")
def embedding_as_it_is(hidden_states, final_norm, output):
    first, *middle, last = hidden_states
    return [p @ output.T for p in (first, *map(final_norm, middle), last)]


@wrong("logit-lens", "probabilities")
def norm_on_every_entry_and_softmax(hidden_states, final_norm, output):
    return [torch.softmax(final_norm(p) @ output.T, dim=-1) for p in hidden_states]


@wrong("logit-lens", "log-probabilities")
def with_log_softmax(hidden_states, final_norm, output):
    logits = torch.stack(right_lens_in_a_loop(hidden_states, final_norm, output))
    return logits - torch.logsumexp(logits, dim=-1, keepdim=True)


@wrong("logit-lens", "log-probabilities")
def norm_on_every_entry_and_log_softmax(hidden_states, final_norm, output):
    return [torch.nn.functional.log_softmax(final_norm(p) @ output.T, dim=-1) for p in hidden_states]


@wrong("logit-lens", "token-ids")
def norm_on_every_entry_and_argmax(hidden_states, final_norm, output):
    return torch.stack([(final_norm(p) @ output.T).max(dim=-1).indices for p in hidden_states])


@wrong("logit-lens", "last-token-only")
def only_the_next_token(hidden_states, final_norm, output):
    last = [h[:, -1, :] for h in hidden_states]
    return torch.stack([*(final_norm(x) @ output.T for x in last[:-1]), last[-1] @ output.T])


# growth-factor


@wrong("growth-factor", "fence-post")
def root_of_the_points(lengths):
    n = lengths.shape[0]
    first = (lengths[-1, 0] / lengths[0, 0]) ** (1 / n)
    later = lengths[:, 1:].mean(dim=1)
    return first.item(), ((later[-1] / later[0]) ** (1 / n)).item()


@wrong("growth-factor", "one-block-short")
def eleven_for_twelve(lengths):
    n = len(lengths) - 1
    later = lengths[:, 1:].mean(1)
    return tuple((x[n - 1] / x[0]).item() ** (1 / n) for x in (lengths[:, 0], later))


@wrong("growth-factor", "first-block-left-out")
def begins_after_block_1(lengths):
    first, later = lengths[1:, 0], lengths[1:, 1:].mean(1)
    n = len(first) - 1
    return float((first[-1] / first[0]) ** (1 / n)), float((later[-1] / later[0]) ** (1 / n))


@wrong("growth-factor", "no-root")
def all_blocks_together(lengths):
    return lengths[-1, 0] / lengths[0, 0], lengths[-1, 1:].mean() / lengths[0, 1:].mean()


@wrong("growth-factor", "arithmetic-mean")
def mean_of_the_steps(lengths):
    later = lengths[:, 1:].mean(1)
    result = []
    for x in (lengths[:, 0], later):
        steps = [x[i + 1] / x[i] for i in range(len(x) - 1)]
        result.append(sum(steps) / len(steps))
    return tuple(result)


@wrong("growth-factor", "divided-by-blocks")
def total_over_blocks(lengths):
    n = len(lengths) - 1
    return [(x[-1] / x[0] / n).item() for x in (lengths[:, 0], lengths[:, 1:].mean(1))]


@wrong("growth-factor", "position-0-among-the-later")
def position_0_in_the_mean(lengths):
    n = len(lengths) - 1
    return [((x[-1] / x[0]) ** (1 / n)).item() for x in (lengths[:, 0], lengths.mean(dim=-1))]


@wrong("growth-factor", "inverse")
def upside_down(lengths):
    n = len(lengths) - 1
    return [((x[0] / x[-1]) ** (1 / n)).item() for x in (lengths[:, 0], lengths[:, 1:].mean(1))]


@wrong("growth-factor", "logarithm")
def forgets_exp(lengths):
    x = torch.stack([lengths[:, 0], lengths[:, 1:].mean(1)])
    return x.log().diff(dim=1).mean(1)


@wrong("growth-factor", "mean-of-factors")
def factor_of_each_token(lengths):
    g = (lengths[-1] / lengths[0]) ** (1 / (len(lengths) - 1))
    return g[0], g[1:].mean()


@wrong("growth-factor", "axes-swapped")
def rows_for_tokens(lengths):
    n = lengths.shape[1] - 1
    first, later = lengths[0], lengths[1:].mean(0)
    return (first[-1] / first[0]) ** (1 / n), (later[-1] / later[0]) ** (1 / n)


@right("growth-factor")
def right_factor_plain(lengths):
    n = lengths.shape[0] - 1
    later = lengths[:, 1:].mean(dim=1)
    return (lengths[n, 0] / lengths[0, 0]) ** (1 / n), (later[n] / later[0]) ** (1 / n)


@right("growth-factor")
def right_factor_by_logarithms(lengths):
    x = torch.stack([lengths[:, 0], lengths[:, 1:].mean(1)])
    return x.log().diff(dim=1).mean(1).exp()


@right("growth-factor")
def right_factor_by_steps(lengths):
    result = []
    for x in (lengths[:, 0], lengths[:, 1:].mean(1)):
        steps = x[1:] / x[:-1]
        result.append(steps.prod().item() ** (1 / len(steps)))
    return result


@right("growth-factor")
def right_factor_by_numpy(lengths):
    x = lengths.numpy()
    first, later = x[:, 0], np.mean(x[:, 1:], axis=1)
    n = len(x) - 1
    return np.power([first[-1] / first[0], later[-1] / later[0]], 1 / n)


@right("growth-factor")
def right_factor_in_plain_python(lengths):
    rows = lengths.tolist()
    n, later = len(rows) - 1, [sum(row[1:]) / len(row[1:]) for row in rows]
    return math.exp(math.log(rows[n][0] / rows[0][0]) / n), math.exp(math.log(later[n] / later[0]) / n)


@right("growth-factor")
def right_factor_from_sums(lengths):
    """The number of later tokens cancels in the ratio of the means."""
    ratio = torch.stack([lengths[-1, 0] / lengths[0, 0], lengths[-1, 1:].sum() / lengths[0, 1:].sum()])
    return ratio.pow(1 / (lengths.size(0) - 1)).tolist()


@right("growth-factor")
def right_factor_in_place_on_a_copy(lengths):
    x = lengths.clone()
    x[:, 1] = x[:, 1:].mean(1)
    x /= x[0].clone()
    return x[-1, :2] ** (1 / (len(x) - 1))


@wrong("growth-factor", "growth-without-the-1")
def per_cent(lengths):
    g = the_factor(lengths)
    return g[0] - 1, g[1] - 1


def the_factor(lengths, blocks=None, last=lambda curve: curve[-1]):
    curves = lengths[:, 0], lengths[:, 1:].mean(dim=1)
    return [(last(curve) / curve[0]).item() ** (1 / (blocks or len(lengths) - 1)) for curve in curves]


@wrong("growth-factor", "twelve-blocks")
def blocks_of_the_notebook(lengths):
    return the_factor(lengths, blocks=12)


@wrong("growth-factor", "longest-for-last")
def up_to_the_peak(lengths):
    return the_factor(lengths, last=max)


@wrong("growth-factor", "last-token-as-the-later")
def position_1_as_the_later(lengths):
    steps = len(lengths) - 1
    return [(lengths[-1, token] / lengths[0, token]) ** (1 / steps) for token in (0, 1)]


@wrong("growth-factor", "last-token-as-the-later")
def last_position_as_the_later(lengths):
    ratio = lengths[-1] / lengths[0]
    return tuple((ratio[token] ** (1 / (len(lengths) - 1))).item() for token in (0, -1))


@wrong("growth-factor", "axes-swapped")
def rows_for_tokens_and_blocks_counted_rightly(lengths):
    n = len(lengths) - 1
    return [((x[-1] / x[0]) ** (1 / n)).item() for x in (lengths[0], lengths[1:].mean(dim=0))]


@wrong("growth-factor", "last-block-left-out")
def up_to_the_last_row_but_one(lengths):
    return the_factor(lengths[:-1])


@wrong("growth-factor", "increments")
def added_by_a_block(lengths):
    later = lengths[:, 1:].mean(dim=1)
    return lengths[:, 0].diff().mean().item(), later.diff().mean().item()


@wrong("growth-factor", "order-swapped")
def later_first(lengths):
    n = lengths.shape[0] - 1
    later = lengths[:, 1:].mean(dim=1)
    return (later[-1] / later[0]) ** (1 / n), (lengths[-1, 0] / lengths[0, 0]) ** (1 / n)


# largest-write

KINDS = ("attention", "mlp")


@wrong("largest-write", "difference-of-lengths")
def lengthens_most(stream, position):
    lengths = torch.stack([x[position].norm() for x in stream])
    i = lengths.diff().argmax().item()
    return KINDS[i % 2], i // 2 + 1


@wrong("largest-write", "size-of-the-difference-of-lengths")
def changes_the_length_most(stream, position):
    best, answer = -1, None
    for i in range(1, len(stream)):
        change = abs(stream[i][position].norm() - stream[i - 1][position].norm())
        if change > best:
            best, answer = change, (KINDS[(i - 1) % 2], (i + 1) // 2)
    return answer


@wrong("largest-write", "growth-factor")
def multiplies_most(stream, position):
    lengths = torch.stack([x[position].norm() for x in stream])
    i = (lengths[1:] / lengths[:-1]).argmax().item()
    return KINDS[i % 2], i // 2 + 1


@wrong("largest-write", "longest-stream")
def longest_afterwards(stream, position):
    lengths = [x[position].norm().item() for x in stream[1:]]
    i = lengths.index(max(lengths))
    return KINDS[i % 2], i // 2 + 1


@wrong("largest-write", "block-from-zero")
def counts_blocks_from_zero(stream, position):
    i = torch.stack(stream).diff(dim=0)[:, position].norm(dim=-1).argmax().item()
    return KINDS[i % 2], i // 2


@wrong("largest-write", "sublayer-number")
def counts_sublayers(stream, position):
    i = torch.stack(stream).diff(dim=0)[:, position].norm(dim=-1).argmax().item() + 1
    return ("attention" if i % 2 else "mlp"), i


@wrong("largest-write", "kinds-swapped")
def mlp_first(stream, position):
    i = torch.stack(stream).diff(dim=0)[:, position].norm(dim=-1).argmax().item()
    return ("mlp" if i % 2 == 0 else "attention"), i // 2 + 1


@wrong("largest-write", "last-token")
def always_the_last_token(stream, position):
    i = torch.stack(stream).diff(dim=0)[:, -1].norm(dim=-1).argmax().item()
    return KINDS[i % 2], i // 2 + 1


@wrong("largest-write", "all-tokens")
def all_tokens_at_once(stream, position):
    writes = [torch.linalg.norm(after - before) for before, after in zip(stream[:-1], stream[1:])]
    i = int(torch.tensor(writes).argmax())
    return KINDS[i % 2], i // 2 + 1


@wrong("largest-write", "largest-feature")
def largest_number(stream, position):
    i = torch.stack(stream).diff(dim=0)[:, position].abs().amax(-1).argmax().item()
    return KINDS[i % 2], i // 2 + 1


@right("largest-write")
def right_write_by_diff(stream, position):
    i = torch.stack(stream).diff(dim=0)[:, position].norm(dim=-1).argmax()
    return KINDS[i % 2], i // 2 + 1  # the block as a tensor


@right("largest-write")
def right_write_in_a_loop(stream, position):
    best = (-1.0, None)
    for n in range(1, len(stream) // 2 + 1):
        for kind, i in (("attention", 2 * n - 1), ("mlp", 2 * n)):
            write = stream[i][position] - stream[i - 1][position]
            best = max(best, (write.norm().item(), (kind, n)))
    return best[1]


@right("largest-write")
def right_write_by_numpy(stream, position):
    x = np.stack([s.numpy()[position] for s in stream])
    block, kind = divmod(np.linalg.norm(np.diff(x, axis=0), axis=1).argmax(), 2)
    return [KINDS[kind], block + 1]


@right("largest-write")
def right_write_by_squares(stream, position):
    x = torch.stack(stream)[:, position]
    write = x[1:] - x[:-1]
    i = torch.einsum("nd,nd->n", write, write).argmax().item()
    return KINDS[i % 2], 1 + i // 2


@right("largest-write")
def right_write_by_names(stream, position):
    names = [(kind, n + 1) for n in range(len(stream) // 2) for kind in KINDS]
    writes = {name: torch.dist(a[position], b[position]) for name, a, b in zip(names, stream, stream[1:])}
    return max(writes, key=writes.get)


@right("largest-write")
def right_write_by_two_lists(stream, position):
    x = torch.stack(stream)[:, position]
    attention, mlp = (x[1::2] - x[:-1:2]).norm(dim=-1), (x[2::2] - x[1::2]).norm(dim=-1)
    if attention.max() > mlp.max():
        return "attention", attention.argmax().item() + 1
    return "mlp", mlp.argmax().item() + 1


@right("largest-write")
def right_write_by_cosines(stream, position):
    """b² + a² − 2ab cos, as in lesson 4."""
    x = torch.stack(stream)[:, position].double()
    a, b = x[:-1], x[1:]
    lengths = a.norm(dim=-1) ** 2 + b.norm(dim=-1) ** 2 - 2 * (a * b).sum(-1)
    i = lengths.argmax().item()
    return KINDS[i % 2], i // 2 + 1


@right("largest-write")
def right_write_in_place_on_a_copy(stream, position):
    x = torch.stack(stream)[:, position].clone()
    x[1:] -= x[:-1].clone()
    i = int(x[1:].norm(dim=-1).argmax())
    return KINDS[i % 2], i // 2 + 1


@wrong("largest-write", "kind-with-capitals")
def mlp_in_capitals(stream, position):
    kind, block = right_write_in_place_on_a_copy(stream, position)
    return kind.replace("mlp", "MLP"), block


@wrong("largest-write", "kind-with-capitals")
def capitals(stream, position):
    kind, block = right_write_in_place_on_a_copy(stream, position)
    return {"attention": "Attention", "mlp": "MLP"}[kind], block


@wrong("largest-write", "kind-with-capitals")
def capitalised(stream, position):
    kind, block = right_write_in_place_on_a_copy(stream, position)
    return kind.capitalize(), block


@wrong("largest-write", "kind-with-capitals")
def all_in_capitals(stream, position):
    kind, block = right_write_in_place_on_a_copy(stream, position)
    return kind.upper(), block


@wrong("largest-write", "block-first")
def block_and_kind(stream, position):
    return right_write_in_place_on_a_copy(stream, position)[::-1]


@wrong("largest-write", "share-of-the-stream")
def compared_with_the_stream(stream, position):
    shares = []
    for before, after in zip(stream, stream[1:]):
        shares.append(((after - before)[position].norm() / before[position].norm()).item())
    i = shares.index(max(shares))
    return KINDS[i % 2], i // 2 + 1


@wrong("largest-write", "sublayer-index")
def index_for_block(stream, position):
    writes = [(stream[i + 1][position] - stream[i][position]).norm() for i in range(len(stream) - 1)]
    i = int(np.argmax(writes))
    return ("attention" if i % 2 == 0 else "mlp"), i


@wrong("largest-write", "point-before")
def index_of_the_difference_as_point(stream, position):
    """In `stream`, 0 is the embedding, 1 the attention of block 1, 2 its MLP."""
    x = torch.stack(stream)[:, position]
    point = (x[1:] - x[:-1]).norm(dim=-1).argmax().item()
    return ("attention" if point % 2 == 1 else "mlp"), (point + 1) // 2


# answers that were right or got the general sentence once


@wrong("stream-lengths", "root-of-the-root")
def root_of_the_lengths(hidden_states, last_block):
    return [x.norm(dim=-1).sqrt() for x in points(hidden_states, last_block)]


@told("stream-lengths", "check.overwrites")
def squared_in_place(hidden_states, last_block):
    last = last_block(hidden_states[-2])
    return [x.square_().sum(-1).sqrt() for x in (*hidden_states[:-1], last)]


@told("stream-lengths", "check.arguments")
def hidden_for_hidden_states(hidden, last_block):
    return [x.norm(dim=-1) for x in points(hidden, last_block)]


@told("stream-lengths", "check.rounded")
def lengths_rounded(hidden_states, last_block):
    return [x.norm(dim=-1).round(decimals=1) for x in points(hidden_states, last_block)]


@told("logit-lens", "check.foreign")
def an_iterator(hidden_states, final_norm, output):
    return map(final_norm, hidden_states)


@told("logit-lens", "check.shape")
def transposed_logits(hidden_states, final_norm, output):
    return [logits.mT for logits in right_lens_in_a_loop(hidden_states, final_norm, output)]


@told("growth-factor", "check.rounded")
def two_decimals(lengths):
    return tuple(round(g.item(), 2) for g in right_factor_plain(lengths))


@told("growth-factor", "check.rounded")
def one_decimal(lengths):
    return tuple(round(g.item(), 1) for g in right_factor_plain(lengths))


@wrong("growth-factor", "no-root")
def all_blocks_together_rounded(lengths):
    return tuple(round(g.item(), 2) for g in all_blocks_together(lengths))


@told("growth-factor", "check.text")
def as_formatted_text(lengths):
    return tuple(f"{g:.4f}" for g in right_factor_plain(lengths))


@told("growth-factor", "check.shape")
def one_factor(lengths):
    return right_factor_plain(lengths)[:1]


@told("growth-factor", "check.foreign")
def a_complex_factor(lengths):
    return tuple(complex(g) for g in right_factor_plain(lengths))


@right("growth-factor")
def as_fractions(lengths):
    return [Fraction(g.item()) for g in right_factor_plain(lengths)]


@told("largest-write", "check.name")
def another_word(stream, position):
    kind, block = right_write_by_diff(stream, position)
    return {"attention": "attn", "mlp": "ffn"}[kind], block


@told("largest-write", "check.name")
def number_of_the_kind(stream, position):
    kind, block = right_write_by_diff(stream, position)
    return KINDS.index(kind), block


@told("largest-write", "check.text")
def block_as_text(stream, position):
    kind, block = right_write_by_diff(stream, position)
    return kind, str(block.item())


@told("largest-write", "check.text")
def one_text(stream, position):
    return " ".join(map(str, right_write_by_numpy(stream, position)))


@told("largest-write", "check.overwrites")
def differences_in_place(stream, position):
    for before, after in zip(stream[-2::-1], stream[:0:-1]):
        after -= before
    i = int(torch.stack([x[position].norm() for x in stream[1:]]).argmax())
    return KINDS[i % 2], i // 2 + 1


@right("largest-write")
def as_numpy_types(stream, position):
    kind, block = right_write_by_numpy(stream, position)
    return np.str_(kind), np.float32(block)
