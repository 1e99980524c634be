"""Assignment 4, the residual stream: what its checks know. How to add a mistake: see the head of this package."""

import torch
import torch.nn.functional as F

from helpers.activities.tasks import Task


def norm_with(gamma):
    """Return a LayerNorm with this gain, and a bias smaller by 1, a function of x."""

    def norm(x):
        return F.layer_norm(x, gamma.shape, gamma, gamma - 1, 0.1)

    return norm


def drawn_stream(randn, points, *shape):
    """Return points of a stream, tensors of this shape, each larger than the one before."""
    return [(number + 1) * randn(*shape) + 1 for number in range(points)]


# 1 · The stream at every point


def stream_lengths_cases(randn):
    def case(inner_points, *shape):
        """Return what a model with as many blocks would return, its last block, which is not recorded, included."""
        d = shape[-1]
        weight = randn(d, d)
        final_norm = norm_with(randn(d) + 2)

        def last_block(x):
            return x + torch.tanh(x @ weight).cumsum(-2)

        stream = drawn_stream(randn, inner_points, *shape)
        return {"hidden_states": (*stream, final_norm(last_block(stream[-1]))), "last_block": last_block}

    return [case(3, 2, 3, 6), case(2, 4, 2, 7)]


def stream_lengths(hidden_states, last_block):
    return [x.norm(dim=-1) for x in points(hidden_states, last_block)]


def points(hidden_states, last_block):
    """Return all points of the stream, the one after the last block included."""
    return [*hidden_states[:-1], last_block(hidden_states[-2])]


STREAM_LENGTHS = Task("stream-lengths", stream_lengths, stream_lengths_cases)


@STREAM_LENGTHS.mistake("final-norm-as-last-block")
def stream_lengths_final_norm_as_last_block(hidden_states, last_block):
    return [x.norm(dim=-1) for x in hidden_states]


@STREAM_LENGTHS.mistake("last-block-missing")
def stream_lengths_last_block_missing(hidden_states, last_block):
    return [x.norm(dim=-1) for x in hidden_states[:-1]]


@STREAM_LENGTHS.mistake("embedding-missing")
def stream_lengths_embedding_missing(hidden_states, last_block):
    return [x.norm(dim=-1) for x in (*hidden_states[1:-1], last_block(hidden_states[-2]))]


@STREAM_LENGTHS.mistake("one-index-too-far")
def stream_lengths_one_index_too_far(hidden_states, last_block):
    return [x.norm(dim=-1) for x in hidden_states[1:]]


@STREAM_LENGTHS.mistake("embedding-missing-and-final-norm")
def stream_lengths_embedding_missing_and_final_norm(hidden_states, last_block):
    return [x.norm(dim=-1) for x in (*hidden_states[1:], last_block(hidden_states[-2]))]


@STREAM_LENGTHS.mistake("one-too-many")
def stream_lengths_one_too_many(hidden_states, last_block):
    return [x.norm(dim=-1) for x in (*hidden_states, last_block(hidden_states[-2]))]


@STREAM_LENGTHS.mistake("block-after-final-norm")
def stream_lengths_block_after_final_norm(hidden_states, last_block):
    return [x.norm(dim=-1) for x in (*hidden_states[:-1], last_block(hidden_states[-1]))]


@STREAM_LENGTHS.mistake("residual-twice")
def stream_lengths_residual_twice(hidden_states, last_block):
    return [x.norm(dim=-1) for x in (*hidden_states[:-1], hidden_states[-2] + last_block(hidden_states[-2]))]


@STREAM_LENGTHS.mistake("last-write")
def stream_lengths_last_write(hidden_states, last_block):
    return [x.norm(dim=-1) for x in (*hidden_states[:-1], last_block(hidden_states[-2]) - hidden_states[-2])]


@STREAM_LENGTHS.mistake("root-mean-square")
def stream_lengths_root_mean_square(hidden_states, last_block):
    return [x.square().mean(-1).sqrt() for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake("squared")
def stream_lengths_squared(hidden_states, last_block):
    return [x.square().sum(-1) for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake("root-of-the-root")
def stream_lengths_root_of_the_root(hidden_states, last_block):
    return [x.norm(dim=-1).sqrt() for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake("absolute-sum")
def stream_lengths_absolute_sum(hidden_states, last_block):
    return [x.abs().sum(-1) for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake("over-tokens")
def stream_lengths_over_tokens(hidden_states, last_block):
    return [x.norm(dim=-2) for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake("whole-tensor")
def stream_lengths_whole_tensor(hidden_states, last_block):
    return [x.norm() for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake("last-token-only")
def stream_lengths_last_token_only(hidden_states, last_block):
    return [x[:, -1].norm(dim=-1) for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake("first-example-only")
def stream_lengths_first_example_only(hidden_states, last_block):
    return [x[0].norm(dim=-1) for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake("points-on-the-last-axis")
def stream_lengths_points_on_the_last_axis(hidden_states, last_block):
    return torch.stack([x.norm(dim=-1) for x in points(hidden_states, last_block)], -1)


@STREAM_LENGTHS.mistake("axis-kept")
def stream_lengths_axis_kept(hidden_states, last_block):
    return [x.norm(dim=-1, keepdim=True) for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake("vectors")
def stream_lengths_vectors(hidden_states, last_block):
    return [*points(hidden_states, last_block)]


# 2 · What would the model say after block i?


def logit_lens_cases(randn):
    def case(inner_points, vocabulary, *shape):
        final_norm = norm_with(randn(shape[-1]) + 2)
        stream = drawn_stream(randn, inner_points, *shape)
        last = final_norm(3 * randn(*shape))
        return {"hidden_states": (*stream, last), "final_norm": final_norm, "output": randn(vocabulary, shape[-1])}

    return [case(3, 7, 2, 3, 6), case(2, 9, 4, 2, 7)]


def logit_lens(hidden_states, final_norm, output):
    return [*(final_norm(x) @ output.T for x in hidden_states[:-1]), hidden_states[-1] @ output.T]


def final_norm_on_every_entry(hidden_states, final_norm, output):
    return [final_norm(x) @ output.T for x in hidden_states]


LOGIT_LENS = Task("logit-lens", logit_lens, logit_lens_cases)


@LOGIT_LENS.mistake("final-norm-twice")
def logit_lens_final_norm_twice(hidden_states, final_norm, output):
    return final_norm_on_every_entry(hidden_states, final_norm, output)


@LOGIT_LENS.mistake("no-final-norm")
def logit_lens_no_final_norm(hidden_states, final_norm, output):
    return [x @ output.T for x in hidden_states]


@LOGIT_LENS.mistake("embedding-not-normalised")
def logit_lens_embedding_not_normalised(hidden_states, final_norm, output):
    return (
        [hidden_states[0] @ output.T]
        + [final_norm(x) @ output.T for x in hidden_states[1:-1]]
        + [hidden_states[-1] @ output.T]
    )


@LOGIT_LENS.mistake("final-norm-only-at-the-end")
def logit_lens_final_norm_only_at_the_end(hidden_states, final_norm, output):
    return [x @ output.T for x in hidden_states[:-1]] + [final_norm(hidden_states[-1]) @ output.T]


@LOGIT_LENS.mistake("last-entry-missing")
def logit_lens_last_entry_missing(hidden_states, final_norm, output):
    return [final_norm(x) @ output.T for x in hidden_states[:-1]]


@LOGIT_LENS.mistake("embedding-missing")
def logit_lens_embedding_missing(hidden_states, final_norm, output):
    return [final_norm(x) @ output.T for x in hidden_states[1:-1]] + [hidden_states[-1] @ output.T]


@LOGIT_LENS.mistake("embedding-missing-and-twice")
def logit_lens_embedding_missing_and_twice(hidden_states, final_norm, output):
    return [final_norm(x) @ output.T for x in hidden_states[1:]]


@LOGIT_LENS.mistake("probabilities")
def logit_lens_probabilities(hidden_states, final_norm, output):
    return [y.softmax(-1) for y in logit_lens(hidden_states, final_norm, output)]


@LOGIT_LENS.mistake("probabilities")
def logit_lens_probabilities_with_the_final_norm_twice(hidden_states, final_norm, output):
    return [y.softmax(-1) for y in final_norm_on_every_entry(hidden_states, final_norm, output)]


@LOGIT_LENS.mistake("log-probabilities")
def logit_lens_log_probabilities(hidden_states, final_norm, output):
    return [y.log_softmax(-1) for y in logit_lens(hidden_states, final_norm, output)]


@LOGIT_LENS.mistake("log-probabilities")
def logit_lens_log_probabilities_with_the_final_norm_twice(hidden_states, final_norm, output):
    return [y.log_softmax(-1) for y in final_norm_on_every_entry(hidden_states, final_norm, output)]


@LOGIT_LENS.mistake("token-ids")
def logit_lens_token_ids(hidden_states, final_norm, output):
    return [y.argmax(-1) for y in logit_lens(hidden_states, final_norm, output)]


@LOGIT_LENS.mistake("token-ids")
def logit_lens_token_ids_with_the_final_norm_twice(hidden_states, final_norm, output):
    return [y.argmax(-1) for y in final_norm_on_every_entry(hidden_states, final_norm, output)]


@LOGIT_LENS.mistake("last-token-only")
def logit_lens_last_token_only(hidden_states, final_norm, output):
    return [y[:, -1] for y in logit_lens(hidden_states, final_norm, output)]


@LOGIT_LENS.mistake("final-norm-forgets-gain")
def logit_lens_final_norm_forgets_gain(hidden_states, final_norm, output):
    return [F.layer_norm(x, x.shape[-1:], eps=0.1) @ output.T for x in hidden_states[:-1]] + [
        hidden_states[-1] @ output.T
    ]


# 3 · One factor for the growth, and position 0


def growth_factor_cases(randn):
    """The tokens grow at different rates; in the second case the stream is longest before its end."""
    growing = torch.linspace(1, 3, 5)[:, None] ** torch.linspace(3, 1, 3)
    peaked = torch.tensor([1.0, 2.0, 9.0, 3.0])[:, None] ** torch.linspace(3, 1, 6)
    return [{"lengths": (randn(5, 3).abs() + 1) * growing}, {"lengths": (randn(4, 6).abs() + 1) * peaked}]


def growth_factor(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / blocks))


def first_and_later(lengths):
    """Return the length at position 0 and the mean length at the later ones for every point, of shape (N + 1, 2)."""
    return torch.stack((lengths[:, 0], lengths[:, 1:].mean(1)), 1)


GROWTH_FACTOR = Task("growth-factor", growth_factor, growth_factor_cases)


@GROWTH_FACTOR.mistake("fence-post")
def growth_factor_fence_post(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / (blocks + 1)))


@GROWTH_FACTOR.mistake("twelve-blocks")
def growth_factor_twelve_blocks(lengths):
    means = first_and_later(lengths)
    return list((means[-1] / means[0]) ** (1 / 12))


@GROWTH_FACTOR.mistake("one-block-short")
def growth_factor_one_block_short(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-2] / means[0]) ** (1 / blocks))


@GROWTH_FACTOR.mistake("longest-for-last")
def growth_factor_longest_for_last(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means.amax(0) / means[0]) ** (1 / blocks))


@GROWTH_FACTOR.mistake("last-block-left-out")
def growth_factor_last_block_left_out(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-2] / means[0]) ** (1 / (blocks - 1)))


@GROWTH_FACTOR.mistake("first-block-left-out")
def growth_factor_first_block_left_out(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-1] / means[1]) ** (1 / (blocks - 1)))


@GROWTH_FACTOR.mistake("no-root")
def growth_factor_no_root(lengths):
    means = first_and_later(lengths)
    return list(means[-1] / means[0])


@GROWTH_FACTOR.mistake("divided-by-blocks")
def growth_factor_divided_by_blocks(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list(means[-1] / means[0] / blocks)


@GROWTH_FACTOR.mistake("arithmetic-mean")
def growth_factor_arithmetic_mean(lengths):
    means = first_and_later(lengths)
    return list((means[1:] / means[:-1]).mean(0))


@GROWTH_FACTOR.mistake("increments")
def growth_factor_increments(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-1] - means[0]) / blocks)


@GROWTH_FACTOR.mistake("inverse")
def growth_factor_inverse(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[0] / means[-1]) ** (1 / blocks))


@GROWTH_FACTOR.mistake("logarithm")
def growth_factor_logarithm(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]).log() / blocks)


@GROWTH_FACTOR.mistake("growth-without-the-1")
def growth_factor_growth_without_the_1(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / blocks) - 1)


@GROWTH_FACTOR.mistake("position-0-among-the-later")
def growth_factor_position_0_among_the_later(lengths):
    means = torch.stack((lengths[:, 0], lengths.mean(1)), 1)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / blocks))


@GROWTH_FACTOR.mistake("last-token-as-the-later")
def growth_factor_last_token_as_the_later(lengths):
    means = torch.stack((lengths[:, 0], lengths[:, -1]), 1)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / blocks))


@GROWTH_FACTOR.mistake("last-token-as-the-later")
def growth_factor_last_token_as_the_later_position_1(lengths):
    means = torch.stack((lengths[:, 0], lengths[:, 1]), 1)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / blocks))


@GROWTH_FACTOR.mistake("mean-of-factors")
def growth_factor_mean_of_factors(lengths):
    means = (lengths[-1] / lengths[0]) ** (1 / (len(lengths) - 1))
    return list(torch.stack((means[0], means[1:].mean())))


@GROWTH_FACTOR.mistake("axes-swapped")
def growth_factor_axes_swapped(lengths):
    lengths = lengths.T
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / blocks))


@GROWTH_FACTOR.mistake("axes-swapped")
def growth_factor_axes_swapped_blocks_counted_rightly(lengths):
    means = torch.stack((lengths[0], lengths[1:].mean(0)), 1)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / blocks))


@GROWTH_FACTOR.mistake("order-swapped")
def growth_factor_order_swapped(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list(((means[-1] / means[0]) ** (1 / blocks)).flip(0))


# 4 · Who wrote most?

# What the four sublayers of two blocks write, after the embedding, in three cases that are chosen
MUCH_THAT_CANCELS = torch.tensor([[10.0, 0, 0, 0], [1, 0, 0, 0], [-9, 0, 0, 0], [0, 10, 0, 0], [0, 0, 7.5, 7.5]])
ALONG_THE_STREAM = torch.tensor([[1.0, 0, 0, 0], [2.5, 0, 0, 0], [-3.3, 0, 0, 0], [-0.6, 0, 0, 0], [0, 0, 0, 0.3]])
OTHERS_FOR_OTHER_TOKENS = torch.tensor([[1.0, 0, 0, 0], [1.5, 0, 0, 0], [3, 0, 0, 0], [0, 0, 4, 0], [0, 0, 0, 0.5]])
FACTOR_OF_EACH_TOKEN = torch.tensor([[1.0, 1, 1], [1, 1, 1], [1, 1, 3], [1, 1, 1], [30, 1, 1]])


def largest_write_cases(randn):
    def chosen(writes, factors=1.0):
        """Return a stream of three tokens to which this is written, and a little noise in seven features."""
        written = F.pad(writes, (0, 3))[:, None] * torch.as_tensor(factors)[..., None]
        stream = (written + 0.01 * randn(5, 3, 7)).cumsum(0)
        return {"stream": list(stream), "position": 1}

    def drawn(spread, points, tokens, d, position):
        """Return a stream that is drawn; the sizes of what is written vary with `spread`."""
        sizes = (spread * randn(points, 1, 1)).exp()
        stream = (sizes * randn(points, tokens, d)).cumsum(0)
        return {"stream": list(stream), "position": position}

    return [
        chosen(MUCH_THAT_CANCELS),
        chosen(ALONG_THE_STREAM),
        chosen(OTHERS_FOR_OTHER_TOKENS, FACTOR_OF_EACH_TOKEN),
        drawn(0.3, points=9, tokens=5, d=7, position=2),
        drawn(0.5, points=11, tokens=4, d=7, position=1),
        drawn(0.3, points=13, tokens=5, d=4, position=0),
        drawn(0.5, points=15, tokens=4, d=3, position=2),
        drawn(0.3, points=17, tokens=6, d=4, position=3),
        drawn(0.3, points=19, tokens=3, d=5, position=1),
    ]


def largest_write(stream, position):
    return named(largest(lengths_written(stream, position)))


def lengths_written(stream, position):
    return [(b - a)[position].norm() for a, b in zip(stream, stream[1:])]


def largest(numbers):
    """Return the index of the largest number."""
    return int(torch.stack(numbers).argmax())


def named(index):
    """Return kind and block of a sublayer, counted from 0."""
    return ("attention", "mlp")[index % 2], index // 2 + 1


LARGEST_WRITE = Task("largest-write", largest_write, largest_write_cases, names=("attention", "mlp"))


@LARGEST_WRITE.mistake("difference-of-lengths")
def largest_write_difference_of_lengths(stream, position):
    return named(largest([b[position].norm() - a[position].norm() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake("size-of-the-difference-of-lengths")
def largest_write_size_of_the_difference_of_lengths(stream, position):
    return named(largest([(b[position].norm() - a[position].norm()).abs() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake("growth-factor")
def largest_write_growth_factor(stream, position):
    return named(largest([b[position].norm() / a[position].norm() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake("share-of-the-stream")
def largest_write_share_of_the_stream(stream, position):
    return named(largest([(b - a)[position].norm() / a[position].norm() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake("longest-stream")
def largest_write_longest_stream(stream, position):
    return named(largest([b[position].norm() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake("largest-feature")
def largest_write_largest_feature(stream, position):
    return named(largest([(b - a)[position].abs().max() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake("all-tokens")
def largest_write_all_tokens(stream, position):
    return named(largest([(b - a).norm() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake("last-token")
def largest_write_last_token(stream, position):
    return named(largest([(b - a)[-1].norm() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake("block-from-zero")
def largest_write_block_from_zero(stream, position):
    index = largest(lengths_written(stream, position))
    return (("attention", "mlp")[index % 2], index // 2)


@LARGEST_WRITE.mistake("sublayer-number")
def largest_write_sublayer_number(stream, position):
    index = largest(lengths_written(stream, position))
    return (("attention", "mlp")[index % 2], index + 1)


@LARGEST_WRITE.mistake("sublayer-index")
def largest_write_sublayer_index(stream, position):
    index = largest(lengths_written(stream, position))
    return (("attention", "mlp")[index % 2], index)


@LARGEST_WRITE.mistake("kinds-swapped")
def largest_write_kinds_swapped(stream, position):
    index = largest(lengths_written(stream, position))
    return (("mlp", "attention")[index % 2], index // 2 + 1)


@LARGEST_WRITE.mistake("kind-with-capitals")
def largest_write_kind_with_capitals(stream, position):
    index = largest(lengths_written(stream, position))
    return (("attention", "MLP")[index % 2], index // 2 + 1)


@LARGEST_WRITE.mistake("kind-with-capitals")
def largest_write_kind_with_capitals_of_both(stream, position):
    index = largest(lengths_written(stream, position))
    return (("Attention", "MLP")[index % 2], index // 2 + 1)


@LARGEST_WRITE.mistake("kind-with-capitals")
def largest_write_kind_with_capitals_of_the_first_letter(stream, position):
    index = largest(lengths_written(stream, position))
    return (("Attention", "Mlp")[index % 2], index // 2 + 1)


@LARGEST_WRITE.mistake("kind-with-capitals")
def largest_write_kind_with_capitals_everywhere(stream, position):
    index = largest(lengths_written(stream, position))
    return (("ATTENTION", "MLP")[index % 2], index // 2 + 1)


@LARGEST_WRITE.mistake("block-first")
def largest_write_block_first(stream, position):
    index = largest(lengths_written(stream, position))
    return (index // 2 + 1, ("attention", "mlp")[index % 2])


@LARGEST_WRITE.mistake("point-before")
def largest_write_point_before(stream, position):
    index = largest(lengths_written(stream, position))
    return (("mlp", "attention")[index % 2], (index + 1) // 2)


TASKS = (
    STREAM_LENGTHS,
    LOGIT_LENS,
    GROWTH_FACTOR,
    LARGEST_WRITE,
)
