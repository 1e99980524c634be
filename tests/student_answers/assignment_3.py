"""Answers to assignment 3, where the norm sits, as students write them."""

import math
from collections import Counter, OrderedDict, UserDict, defaultdict
from types import MappingProxyType

import numpy as np
import torch

from . import right, right_values, told, told_values, wrong, wrong_values

# pre-norm-block


@wrong("pre-norm-block", "residual on the normalised copy")
def _(x, attention, mlp, norm_1, norm_2):
    x = norm_1(x)
    x = x + attention(x)
    x = norm_2(x)
    x = x + mlp(x)
    return x


@wrong("pre-norm-block", "residual on the normalised copy")
def _(x, attention, mlp, norm_1, norm_2):
    normed = norm_1(x)
    after_attention = normed.add(attention(normed))
    normed = norm_2(after_attention)
    normed += mlp(normed)
    return normed


@wrong("pre-norm-block", "post-norm")
def _(x, attention, mlp, norm_1, norm_2):
    x = norm_1(x + attention(x))
    return norm_2(x + mlp(x))


@wrong("pre-norm-block", "output norm")
def _(x, attention, mlp, norm_1, norm_2):
    x = x + norm_1(attention(x))
    return x + norm_2(mlp(x))


@wrong("pre-norm-block", "one norm for both sublayers")
def _(x, attention, mlp, norm_1, norm_2):
    for f in (attention, mlp):
        x = x + f(norm_1(x))
    return x


@wrong("pre-norm-block", "norms exchanged")
def _(x, attention, mlp, norm_1, norm_2):
    for f, norm in ((attention, norm_2), (mlp, norm_1)):
        x = x + f(norm(x))
    return x


@wrong("pre-norm-block", "parallel sublayers")
def _(x, attention, mlp, norm_1, norm_2):
    a = attention(norm_1(x))
    m = mlp(norm_2(x))
    return x + a + m


@wrong("pre-norm-block", "the attention's write is lost")
def _(x, attention, mlp, norm_1, norm_2):
    residual = x
    x = residual + attention(norm_1(x))
    return residual + mlp(norm_2(x))


@wrong("pre-norm-block", "no residual connection around the MLP")
def _(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_1(x))
    h = mlp(norm_2(h))
    return h


@wrong("pre-norm-block", "no norm before the MLP")
def _(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_1(x))
    return h + mlp(h)


@wrong("pre-norm-block", "residual on the normalised copy")
def _(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_1(x))
    h = norm_2(h)
    return h + mlp(h)


@wrong("pre-norm-block", "residual on the normalised copy")
def _(x, attention, mlp, norm_1, norm_2):
    x = norm_1(x)
    h = x + attention(x)
    return h + mlp(norm_2(h))


@wrong("pre-norm-block", "no residual connections")
def _(x, attention, mlp, norm_1, norm_2):
    x = attention(norm_1(x))
    return mlp(norm_2(x))


@wrong("pre-norm-block", "no residual connection around the attention")
def _(x, attention, mlp, norm_1, norm_2):
    x = attention(norm_1(x))
    return x + mlp(norm_2(x))


@wrong("pre-norm-block", "no norms")
def _(x, attention, mlp, norm_1, norm_2):
    for f in (attention, mlp):
        x = x + f(x)
    return x


@wrong("pre-norm-block", "only the attention")
def _(x, attention, mlp, norm_1, norm_2):
    return x + attention(norm_1(x))


@wrong("pre-norm-block", "the MLP comes first")
def _(x, attention, mlp, norm_1, norm_2):
    for f, norm in ((mlp, norm_2), (attention, norm_1)):
        x = x + f(norm(x))
    return x


@right("pre-norm-block")
def _(x, attention, mlp, norm_1, norm_2):
    for f, norm in ((attention, norm_1), (mlp, norm_2)):
        x = x + f(norm(x))
    return x


@right("pre-norm-block")
def _(x, attention, mlp, norm_1, norm_2):
    x = x.clone()
    x += attention(norm_1(x))
    x += mlp(norm_2(x))
    return x


@right("pre-norm-block")
def _(x, attention, mlp, norm_1, norm_2):
    a = attention(norm_1(x))
    return x + a + mlp(norm_2(x + a))


@right("pre-norm-block")
def _(x, attention, mlp, norm_1, norm_2):
    one_token = lambda token: norm_2(token)
    h = torch.add(attention(norm_1(x)), x)
    normed = torch.stack([torch.stack([one_token(token) for token in example]) for example in h])
    return torch.add(mlp(normed), h)


@right("pre-norm-block")
def _(x, attention, mlp, norm_1, norm_2):
    h = x.numpy() + attention(norm_1(x)).numpy()
    return h + mlp(norm_2(torch.from_numpy(h))).numpy()


@right("pre-norm-block")
def _(x, attention, mlp, norm_1, norm_2):
    def sublayer(x, f, norm):
        return torch.stack([x, f(norm(x))]).sum(0)

    return sublayer(sublayer(x, attention, norm_1), mlp, norm_2)


@right("pre-norm-block")
def _(x, attention, mlp, norm_1, norm_2):
    examples = []
    for example in x.double():
        example = example.float()
        h = example + attention(norm_1(example))
        examples.append(h + mlp(norm_2(h)))
    return torch.stack(examples).double()


# post-norm-block


@wrong("post-norm-block", "no residual connection around the MLP")
def _(x, attention, mlp, norm_1, norm_2):
    x = norm_1(x + attention(x))
    return norm_2(mlp(x))


@wrong("post-norm-block", "no norm after the MLP")
def _(x, attention, mlp, norm_1, norm_2):
    x = norm_1(x + attention(x))
    return x + mlp(x)


@wrong("post-norm-block", "only the attention")
def _(x, attention, mlp, norm_1, norm_2):
    return norm_1(x + attention(x))


@wrong("post-norm-block", "a norm before the sublayer, too")
def _(x, attention, mlp, norm_1, norm_2):
    for f, norm in ((attention, norm_1), (mlp, norm_2)):
        x = norm(x + f(norm(x)))
    return x


@wrong("post-norm-block", "pre-norm")
def _(x, attention, mlp, norm_1, norm_2):
    x = x + attention(norm_1(x))
    x = x + mlp(norm_2(x))
    return x


@wrong("post-norm-block", "the norm acts on the write only")
def _(x, attention, mlp, norm_1, norm_2):
    for f, norm in ((attention, norm_1), (mlp, norm_2)):
        x = x + norm(f(x))
    return x


@wrong("post-norm-block", "the residual connection starts before the norm")
def _(x, attention, mlp, norm_1, norm_2):
    residual = x + attention(x)
    x = norm_1(residual)
    return norm_2(residual + mlp(x))


@wrong("post-norm-block", "one norm for both sublayers")
def _(x, attention, mlp, norm_1, norm_2):
    add_and_norm = lambda x, f: norm_1(x + f(x))
    return add_and_norm(add_and_norm(x, attention), mlp)


@wrong("post-norm-block", "norms exchanged")
def _(x, attention, mlp, norm_1, norm_2):
    x = norm_2(attention(x) + x)
    return norm_1(mlp(x) + x)


@wrong("post-norm-block", "only one norm, at the end of the block")
def _(x, attention, mlp, norm_1, norm_2):
    x = x + attention(x)
    x = x + mlp(x)
    return norm_2(x)


@wrong("post-norm-block", "the attention's write is lost")
def _(x, attention, mlp, norm_1, norm_2):
    h = norm_1(x + attention(x))
    return norm_2(x + mlp(h))


@wrong("post-norm-block", "no residual connections")
def _(x, attention, mlp, norm_1, norm_2):
    x = norm_1(attention(x))
    x = norm_2(mlp(x))
    return x


@right("post-norm-block")
def _(x, attention, mlp, norm_1, norm_2):
    return norm_2(norm_1(x + attention(x)) + mlp(norm_1(x + attention(x))))


@right("post-norm-block")
def _(x, attention, mlp, norm_1, norm_2):
    x = x.clone()
    x += attention(x)
    x = norm_1(x)
    x += mlp(x)
    return norm_2(x)


@right("post-norm-block")
def _(x, attention, mlp, norm_1, norm_2):
    for f, norm in zip((attention, mlp), (norm_1, norm_2)):
        x = norm(f(x) + x)
    return x


@right("post-norm-block")
def _(x, attention, mlp, norm_1, norm_2):
    h = norm_1(torch.from_numpy(x.numpy() + attention(x).numpy()))
    return norm_2(torch.from_numpy(h.numpy() + mlp(h).numpy())).numpy()


@right("post-norm-block")
def _(x, attention, mlp, norm_1, norm_2):
    result = torch.empty_like(x)
    for b in range(x.shape[0]):
        h = norm_1(x[b] + attention(x[b]))
        for t in range(x.shape[1]):
            result[b, t] = norm_2(h[t] + mlp(h[t]))
    return result


@right("post-norm-block")
def _(x, attention, mlp, norm_1, norm_2):
    class AddAndNorm(torch.nn.Module):
        def __init__(self, f, norm):
            super().__init__()
            self.f, self.norm = f, norm

        def forward(self, x):
            return self.norm(torch.einsum("sbtd->btd", torch.stack((x, self.f(x)))))

    return torch.nn.Sequential(AddAndNorm(attention, norm_1), AddAndNorm(mlp, norm_2))(x)


# sandwich-sublayer


@wrong("sandwich-sublayer", "post-norm")
def _(x, f, norm_before, norm_after):
    return norm_after(x + f(x))


@wrong("sandwich-sublayer", "the outer norm acts on the sum")
def _(x, f, norm_before, norm_after):
    residual = x
    x = f(norm_before(x))
    return norm_after(residual + x)


@wrong("sandwich-sublayer", "pre-norm")
def _(x, f, norm_before, norm_after):
    h = norm_before(x)
    h = f(h)
    return x + h


@wrong("sandwich-sublayer", "output norm")
def _(x, f, norm_before, norm_after):
    written = f(x)
    return x + norm_after(written)


@wrong("sandwich-sublayer", "norms exchanged")
def _(x, f, norm_before, norm_after):
    read = norm_after(x)
    return x + norm_before(f(read))


@wrong("sandwich-sublayer", "residual on the normalised copy")
def _(x, f, norm_before, norm_after):
    x = norm_before(x)
    return x + norm_after(f(x))


@wrong("sandwich-sublayer", "no residual connection")
def _(x, f, norm_before, norm_after):
    for step in (norm_before, f, norm_after):
        x = step(x)
    return x


@wrong("sandwich-sublayer", "the same norm on both sides")
def _(x, f, norm_before, norm_after):
    norm = norm_before
    return x + norm(f(norm(x)))


@right("sandwich-sublayer")
def _(x, f, norm_before, norm_after):
    residual = x
    for step in (norm_before, f, norm_after):
        x = step(x)
    return x + residual


@right("sandwich-sublayer")
def _(x, f, norm_before, norm_after):
    result = x.clone()
    result += norm_after(f(norm_before(result)))
    return result


@right("sandwich-sublayer")
def _(x, f, norm_before, norm_after):
    return torch.stack([one + norm_after(f(norm_before(one))) for one in x])


@right("sandwich-sublayer")
def _(x, f, norm_before, norm_after):
    return x.numpy() + norm_after(f(norm_before(x))).numpy()


@right("sandwich-sublayer")
def _(x, f, norm_before, norm_after):
    written = f(norm_before(x))
    tokens = [norm_after(token) for token in written.flatten(0, 1)]
    return torch.stack(tokens).view_as(x).add(x)


@right("sandwich-sublayer")
def _(x, f, norm_before, norm_after):
    return torch.einsum("btd->btd", norm_after(f(norm_before(x.detach().clone())))) - (-x)


# deepnorm-sublayer


@wrong("deepnorm-sublayer", "a norm before the sublayer, too")
def _(x, f, norm, layers):
    alpha = (2 * layers) ** (1 / 4)
    return norm(alpha * x + f(norm(x)))


@wrong("deepnorm-sublayer", "beta in place of alpha")
def _(x, f, norm, layers):
    alpha = (2 * layers) ** (-1 / 4)
    return norm(alpha * x + f(x))


@wrong("deepnorm-sublayer", "pre-norm with alpha")
def _(x, f, norm, layers):
    alpha = (2 * layers) ** (1 / 4)
    return alpha * x + f(x)


@wrong("deepnorm-sublayer", "square root")
def _(x, f, norm, layers):
    alpha = 2 * layers
    return norm(alpha * x + f(x))


@wrong("deepnorm-sublayer", "alpha of 12 layers")
def _(x, f, norm, layers):
    return norm((2 * 12) ** (1 / 4) * x + f(x))


@wrong("deepnorm-sublayer", "beta on the sublayer")
def _(x, f, norm, layers):
    alpha, beta = (2 * layers) ** (1 / 4), (8 * layers) ** (-1 / 4)
    return norm(alpha * x + beta * f(x))


@wrong("deepnorm-sublayer", "alpha on the sublayer")
def _(x, f, norm, layers):
    alpha = (2 * layers) ** 0.25
    return norm(x + alpha * f(x))


@wrong("deepnorm-sublayer", "alpha on the whole sum")
def _(x, f, norm, layers):
    alpha = (2 * layers) ** (1 / 4)
    y = x + f(x)
    return norm(y * alpha)


@wrong("deepnorm-sublayer", "beta in place of alpha")
def _(x, f, norm, layers):
    alpha = 1 / (8 * layers) ** 0.25
    return norm(alpha * x + f(x))


@wrong("deepnorm-sublayer", "plain post-norm")
def _(x, f, norm, layers):
    return norm(f(x) + x)


@wrong("deepnorm-sublayer", "pre-norm with alpha")
def _(x, f, norm, layers):
    residual = x * (2 * layers) ** 0.25
    return residual + f(norm(x))


@wrong("deepnorm-sublayer", "output norm with alpha")
def _(x, f, norm, layers):
    alpha = pow(2 * layers, 0.25)
    return alpha * x + norm(f(x))


@wrong("deepnorm-sublayer", "the power binds more tightly than the factor 2")
def _(x, f, norm, layers):
    alpha = 2 * layers**0.25
    return norm(alpha * x + f(x))


@wrong("deepnorm-sublayer", "the power binds more tightly than the division")
def _(x, f, norm, layers):
    alpha = (2 * layers) ** 1 / 4
    return norm(x * alpha + f(x))


@wrong("deepnorm-sublayer", "square root")
def _(x, f, norm, layers):
    alpha = torch.sqrt(torch.tensor(2.0 * layers))
    return norm(alpha * x + f(x))


@wrong("deepnorm-sublayer", "factor 2 forgotten")
def _(x, f, norm, layers):
    alpha = layers ** (1 / 4)
    return norm(alpha * x + f(x))


@wrong("deepnorm-sublayer", "sublayers counted as layers")
def _(x, f, norm, layers):
    sublayers = 2 * layers
    return norm((2 * sublayers) ** 0.25 * x + f(x))


@wrong("deepnorm-sublayer", "the decoder of an encoder-decoder")
def _(x, f, norm, layers):
    return norm((3 * layers) ** 0.25 * x + f(x))


@right("deepnorm-sublayer")
def _(x, f, norm, layers):
    return norm(f(x) + x * (2 * layers) ** (1 / 4))


@right("deepnorm-sublayer")
def _(x, f, norm, layers):
    alpha = torch.tensor(2.0 * layers).sqrt().sqrt()
    return norm(torch.add(f(x), x, alpha=alpha.item()))


@right("deepnorm-sublayer")
def _(x, f, norm, layers):
    alpha = math.exp(math.log(2 * layers) / 4)
    y = x.clone()
    y *= alpha
    y += f(x)
    return norm(y)


@right("deepnorm-sublayer")
def _(x, f, norm, layers):
    y = np.power(2.0 * layers, 0.25) * x.numpy() + f(x).numpy()
    return norm(torch.from_numpy(y.astype("float32"))).numpy()


@right("deepnorm-sublayer")
def _(x, f, norm, layers):
    alpha = (2 * layers) ** 0.25
    return torch.stack([torch.stack([norm(token) for token in alpha * one + f(one)]) for one in x])


@right("deepnorm-sublayer")
def _(x, f, norm, layers):
    weights = torch.tensor([(2 * layers) ** 0.25, 1.0])
    return norm(torch.einsum("s,sbtd->btd", weights, torch.stack((x, f(x)))))


# identity-test


@wrong("identity-test", "the input is zero")
def _(sublayer, norm, d):
    x = torch.zeros(2, d)
    return torch.equal(sublayer(x, torch.zeros_like, norm), x)


@wrong("identity-test", "all features are alike")
def _(sublayer, norm, d):
    x = torch.ones(1, 3, d)
    return torch.equal(sublayer(x, torch.zeros_like, norm), x)


@wrong("identity-test", "a tensor in place of a verdict")
def _(sublayer, norm, d):
    x = torch.arange(3.0 * d).cos().view(3, d)
    return sublayer(x, lambda h: 0 * h, norm) == x


@wrong("identity-test", "the sublayer is not silent")
def _(sublayer, norm, d):
    x = torch.randn(5, d)
    return torch.allclose(sublayer(x.clone(), lambda h: h, norm), x)


@wrong("identity-test", "the sublayer is not silent")
def _(sublayer, norm, d):
    x = torch.randn(2, 3, d)
    return torch.equal(sublayer(x.clone(), torch.nn.Linear(d, d), norm), x)


@wrong("identity-test", "the answer is turned round")
def _(sublayer, norm, d):
    x = torch.randn(5, d)
    y = sublayer(x.clone(), torch.zeros_like, norm)
    return bool((y - x).abs().max() > 1e-6)


@wrong("identity-test", "only the shape is compared")
def _(sublayer, norm, d):
    x = torch.randn(2, 3, d)
    return sublayer(x, torch.zeros_like, norm).shape == x.shape


@wrong("identity-test", "the input is overwritten before it is compared")
def _(sublayer, norm, d):
    x = torch.randn(2, 3, d)
    y = sublayer(x, torch.zeros_like, norm)
    return torch.allclose(x, y)


@wrong("identity-test", "the input is overwritten before it is compared")
def _(sublayer, norm, d):
    x = torch.randn(3, d)
    before = x
    return bool((sublayer(x, lambda h: h * 0, norm) == before).all())


@wrong("identity-test", "the input is zero")
def _(sublayer, norm, d):
    x = torch.zeros(2, 3, d)
    return torch.equal(sublayer(x.clone(), torch.zeros_like, norm), x)


@wrong("identity-test", "all features are alike")
def _(sublayer, norm, d):
    x = torch.ones(2, 3, d)
    return torch.equal(sublayer(x.clone(), torch.zeros_like, norm), x)


@wrong("identity-test", "the input is normalised already")
def _(sublayer, norm, d):
    x = torch.randn(3, d)
    x = x / x.square().mean(-1, keepdim=True).sqrt()
    return torch.allclose(sublayer(x.clone(), torch.zeros_like, norm), x, atol=1e-5)


@wrong("identity-test", "differences without their absolute value")
def _(sublayer, norm, d):
    x = torch.randn(20, d)
    y = sublayer(x.clone(), torch.zeros_like, norm)
    return bool((y - x).max() < 1e-6)


@wrong("identity-test", "differences cancel in the mean")
def _(sublayer, norm, d):
    x = torch.randn(20, d)
    y = sublayer(x.clone(), torch.zeros_like, norm)
    return abs((y - x).mean().item()) < 1e-5


@wrong("identity-test", "differences cancel in the mean")
def _(sublayer, norm, d):
    x = torch.randn(20, d)
    y = sublayer(x.clone(), torch.zeros_like, norm)
    return torch.allclose(y.sum(), x.sum(), atol=1e-4)


@wrong("identity-test", "one equal number is enough")
def _(sublayer, norm, d):
    x = torch.randn(5, d)
    return bool((sublayer(x.clone(), torch.zeros_like, norm) == x).any())


@wrong("identity-test", "only the first token is compared")
def _(sublayer, norm, d):
    x = torch.randn(5, d)
    return torch.allclose(sublayer(x.clone(), torch.zeros_like, norm)[0], x[0])


@wrong("identity-test", "only the first number is compared")
def _(sublayer, norm, d):
    x = torch.randn(5, d)
    return sublayer(x.clone(), torch.zeros_like, norm)[0, 0].item() == x[0, 0].item()


@wrong("identity-test", "only lengths are compared")
def _(sublayer, norm, d):
    x = torch.randn(4, d)
    y = sublayer(x.clone(), torch.zeros_like, norm)
    return torch.allclose(y.norm(dim=-1), x.norm(dim=-1))


@wrong("identity-test", "compared with the normalised input")
def _(sublayer, norm, d):
    x = torch.randn(4, d)
    y = sublayer(x.clone(), torch.zeros_like, norm)
    return torch.allclose(y, norm(x), atol=1e-5)


@right("identity-test")
def _(sublayer, norm, d):
    x = torch.randn(1, 5, d)
    before = x.clone()
    return torch.allclose(sublayer(x, lambda h: 0 * h, norm), before)


@right("identity-test")
def _(sublayer, norm, d):
    x = 3 * torch.randn(2, 7, d) + 1
    y = sublayer(x.clone(), lambda h: torch.zeros(h.shape), norm)
    return (y - x).abs().max().item() < 1e-6


@right("identity-test")
def _(sublayer, norm, d):
    before = torch.arange(2 * d).view(2, d) * 0.7
    x = before.clone()
    y = sublayer(x, torch.zeros_like, norm)
    for t in range(2):
        for i in range(d):
            if y[t, i] != before[t, i]:
                return False
    return True


@right("identity-test")
def _(sublayer, norm, d):
    x = torch.rand(3, d)
    y = sublayer(x.clone(), torch.zeros_like, norm)
    return (x == y).all()


@right("identity-test")
def _(sublayer, norm, d):
    x = np.random.default_rng(0).normal(size=(4, d)).astype("float32")
    y = sublayer(torch.tensor(x), torch.zeros_like, norm).numpy()
    return np.allclose(x, y)


@right("identity-test")
def _(sublayer, norm, d):
    x = torch.randn(3, d)
    y = sublayer(x.clone(), lambda h: h - h, norm)
    return bool(torch.sqrt(((y - x) ** 2).sum()) / x.norm() < 1e-5)


@right("identity-test")
def _(sublayer, norm, d):
    silent = torch.nn.Linear(d, d)
    torch.nn.init.zeros_(silent.weight)
    torch.nn.init.zeros_(silent.bias)
    with torch.no_grad():
        kept, x = [torch.linspace(-2, 5, 3 * d).view(1, 3, d).clone() for _ in range(2)]
        return torch.equal(sublayer(x, silent, norm), kept)


# planted-bugs


wrong_values("planted-bugs", "counted from zero", dict(A=3, B=2, C=1))


wrong_values("planted-bugs", "A: the copy itself is blamed", {"A": 3, "B": 3, "C": 2})


wrong_values("planted-bugs", "A: the healthy sublayer is blamed", {"C": 2, "B": 3, "A": 2})


wrong_values("planted-bugs", "B: the sum is blamed", {"A": 4, "B": 4, "C": 2})


wrong_values("planted-bugs", "B: the residual connection is blamed", {"A": 4, "B": 2, "C": 2})


wrong_values("planted-bugs", "C: alpha on the residual path is blamed", {"A": 4, "B": 3, "C": 4})


wrong_values("planted-bugs", "C: a missing norm before the sublayer is blamed", dict(zip("ABC", (4, 3, 1))))


wrong_values("planted-bugs", "A: the copy itself is blamed", dict(A=3, B=1, C=1))


wrong_values("planted-bugs", "A: the healthy sublayer is blamed", dict(A=1, B=1, C=1))


wrong_values("planted-bugs", "B: the first norm is blamed", dict(A=4, B=1, C=2))


wrong_values("planted-bugs", "B: the first norm is blamed", dict(A=4, B=1, C=3))


wrong_values("planted-bugs", "C: a missing norm before the sublayer is blamed", dict(A=4, B=3, C=3))


right_values(
    "planted-bugs",
    {"A": 4, "B": 3, "C": 2},
    {"C": 2, "B": 3, "A": 4},
    dict(A=4.0, B=3.0, C=2.0),
    dict(zip("ABC", range(4, 1, -1))),
    {"A": torch.tensor(4), "B": torch.tensor(3), "C": torch.tensor(2)},
    dict([("B", 3), ("A", 4), ("C", 2)]),
)


# which-curve


def placements(words):
    """Return the answer that gives the letters A to D these placements."""
    return dict(zip("ABCD", words.split()))


wrong_values("which-curve", "post-norm and DeepNorm exchanged", placements("sandwich post deepnorm pre"))


wrong_values("which-curve", "pre-norm and sandwich norm exchanged", placements("pre deepnorm post sandwich"))


wrong_values("which-curve", "both pairs exchanged", placements("pre post deepnorm sandwich"))


wrong_values("which-curve", "pre-norm and post-norm exchanged", placements("sandwich deepnorm pre post"))


wrong_values("which-curve", "DeepNorm is thought to grow because of alpha", placements("deepnorm sandwich post pre"))


wrong_values("which-curve", "sandwich norm is thought to be flat", placements("post deepnorm sandwich pre"))


wrong_values("which-curve", "growing and flat streams exchanged", placements("deepnorm sandwich pre post"))


wrong_values(
    "which-curve",
    "a flat stream is given a free path",
    placements("pre post sandwich deepnorm"),
    placements("post pre deepnorm sandwich"),
    placements("deepnorm pre post sandwich"),
    placements("pre sandwich post deepnorm"),
    placements("post sandwich deepnorm pre"),
    placements("sandwich pre deepnorm post"),
)


right_values(
    "which-curve",
    {"A": "sandwich", "B": "deepnorm", "C": "post", "D": "pre"},
    {"D": "pre", "C": "post", "B": "deepnorm", "A": "sandwich"},
    dict(A="sandwich", B="deepnorm", C="post", D="pre"),
    dict(zip("ABCD", "sandwich deepnorm post pre".split())),
    {letter: kind for kind, letter in {"pre": "D", "post": "C", "deepnorm": "B", "sandwich": "A"}.items()},
    {"A": "sandwich"} | {"B": "deepnorm"} | {"C": "post", "D": "pre"},
)


# answers that were right or got the general sentence once

told_values(
    "planted-bugs",
    "check.text",
    {"A": "4", "B": "3", "C": "2"},
    {"A": "4", "B": 3, "C": 2},
    {"A": 4, "B": 3, "C": "2 and 4"},
)
told_values(
    "planted-bugs",
    "check.keys",
    {"a": 4, "b": 3, "c": 2},
    {"block_a": 4, "block_b": 3, "block_c": 2},
    {1: 4, 2: 3, 3: 2},
    {"A": 4, "B": 3},
    {"A": 4, "B": 3, "C": 2, "D": 1},
    {},
)
told_values("planted-bugs", "check.dictionary", [4, 3, 2], np.array(["4", "3", "2"]), "A: 4, B: 3, C: 2", 432)
told_values("planted-bugs", "check.different", {"A": [4], "B": [3], "C": [2]})
wrong_values(
    "planted-bugs", "no such line", {"A": 5, "B": 3, "C": 2}, {"A": 0, "B": 0, "C": 0}, {"A": 4.5, "B": 3, "C": 2}
)
told_values("planted-bugs", "check.gap", {"A": None, "B": 3, "C": 2}, {"A": 4, "B": 3, "C": ...})
right_values(
    "planted-bugs",
    OrderedDict(C=2, B=3, A=4),
    defaultdict(int, A=4, B=3, C=2),
    Counter(A=4, B=3, C=2),
    {"A": np.int64(4), "B": np.float32(3), "C": np.array(2)},
    {"A": np.array([4]), "B": torch.tensor([3.0]), "C": True + True},
    MappingProxyType({"A": 4, "B": 3, "C": 2}),
    UserDict({"A": 4, "B": 3, "C": 2}),
    {np.str_("A"): 4, np.str_("B"): 3, np.str_("C"): 2},
)
told_values(
    "which-curve",
    "check.name",
    placements("Sandwich DeepNorm Post Pre"),
    placements("SANDWICH DEEPNORM POST PRE"),
    placements("sandwich-norm deepnorm post-norm pre-norm"),
    placements("sandwich deepnorm post Pre"),
    placements("Sandwich-Norm DeepNorm Post-Norm Pre-Norm"),
    {"A": "sandwich norm", "B": "deepnorm", "C": "post norm", "D": "pre norm"},
    {"A": " sandwich", "B": "deepnorm", "C": "post", "D": "pre"},
    {"A": 3, "B": 4, "C": 2, "D": 1},
    {"A": ["sandwich"], "B": "deepnorm", "C": "post", "D": "pre"},
)
told_values(
    "which-curve",
    "check.keys",
    dict(zip("abcd", ("sandwich", "deepnorm", "post", "pre"))),
    {"sandwich": "A", "deepnorm": "B", "post": "C", "pre": "D"},
)
told_values("which-curve", "check.dictionary", "sandwich, deepnorm, post, pre", ["sandwich", "deepnorm", "post", "pre"])
wrong_values(
    "which-curve",
    "one placement twice",
    placements("sandwich deepnorm post post"),
    placements("deepnorm deepnorm post pre"),
)
told_values("which-curve", "check.gap", {"A": "sandwich", "B": "deepnorm", "C": "post", "D": ...})
right_values("which-curve", OrderedDict(zip("DCBA", np.array(["pre", "post", "deepnorm", "sandwich"]))))


@told("pre-norm-block", "check.arguments")
def other_names(h, attn, feed_forward, ln_1, ln_2):
    h = h + attn(ln_1(h))
    return h + feed_forward(ln_2(h))


@told("sandwich-sublayer", "check.arguments")
def norms_in_another_order(x, f, norm, norm_after):
    return x + norm_after(f(norm(x)))


@told("deepnorm-sublayer", "check.arguments")
def without_layers(x, f, norm):
    return norm(24**0.25 * x + f(x))


@right("deepnorm-sublayer")
def with_a_default(x, f, norm, layers=12, power=0.25):
    return norm((2 * layers) ** power * x + f(x))


@told("identity-test", "check.text")
def verdict_as_text(sublayer, norm, d):
    x = torch.randn(3, d)
    return str(torch.equal(sublayer(x.clone(), torch.zeros_like, norm), x))


told_values("identity-test", "check.not_callable", True, "passes")
