"""What students write into the answer cells, by assignment and grade_id; the code is the same in all languages."""

# Assignment 1

BY_HAND = "y = (  # (d,)\n    [3.5, 1.0, 2.0, 1.5, -2.0]\n)"
LAYER_NORM = """def layer_norm(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(variance + eps) * gamma + beta"""
WHICH_AXIS = "shapes = (\n    [(3, 5, 1), (1, 1, 4), (3, 1, 1)]\n)"
LEAK = """def leak(norm, x, last):
    other = x.clone()
    other[:, -1] = last
    return (norm(other) - norm(x))[:, 0].norm(dim=-1)"""
REVIEW = {
    "de": "Nein. Token 0 bewegt sich um 0,24, wenn das letzte Token ausgetauscht wird; bei LayerNorm bleibt es stehen.",
    "en": "No. Token 0 moves by 0.24 when the last token is exchanged, and under LayerNorm it stays where it is.",
    "sv": "Nej. Token 0 flyttas 0,24 när den sista tokenen byts ut, men med LayerNorm ligger den still.",
}

NUMPY_LAYER_NORM = """import numpy as np

def layer_norm(x, gamma, beta, eps):
    x = np.asarray(x)
    centred = x - x.mean(axis=-1, keepdims=True)
    return np.asarray(gamma) * centred / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + np.asarray(beta)"""
NUMPY_LEAK = """def leak(norm, x, last):
    changed = x.numpy().copy()
    changed[:, -1, :] = last.numpy()
    moved = norm(torch.from_numpy(changed)).numpy() - norm(x).numpy()
    return np.linalg.norm(moved[:, 0, :], axis=-1)"""

LIST_LAYER_NORM = """def layer_norm(x, gamma, beta, eps):
    result = []
    for example in x.tolist():
        rows = []
        for token in example:
            mean = sum(token) / len(token)
            variance = sum((feature - mean) ** 2 for feature in token) / len(token)
            root = (variance + eps) ** 0.5
            rows.append([g * (f - mean) / root + b for f, g, b in zip(token, gamma.tolist(), beta.tolist())])
        result.append(rows)
    return result"""
LIST_LEAK = """def leak(norm, x, last):
    changed = [example[:-1] + [last.tolist()] for example in x.tolist()]
    before, after = norm(x).tolist(), norm(torch.tensor(changed)).tolist()
    return [sum((a - b) ** 2 for a, b in zip(one[0], other[0])) ** 0.5 for one, other in zip(before, after)]"""

FLOAT64_LAYER_NORM = """def layer_norm(x, gamma, beta, eps):
    x, gamma, beta = x.double(), gamma.double(), beta.double()
    return gamma * (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + eps) ** 0.5 + beta"""
FLOAT64_LEAK = """def leak(norm, x, last):
    other = torch.cat([x[:, :-1], last.expand(len(x), 1, -1)], dim=1)
    return (norm(other).double() - norm(x).double())[:, 0].pow(2).sum(-1).sqrt()"""

NUMPY_WITHOUT_IMPORT = """def layer_norm(x, gamma, beta, eps):
    centred = x.numpy() - np.mean(x.numpy(), -1, keepdims=True)
    scaled = centred / np.sqrt(np.mean(centred**2, -1, keepdims=True) + eps)
    return torch.tensor(scaled) * gamma + beta"""

ENDLESS_LEAK = "def leak(norm, x, last):\n    while True:\n        x = x + 0"
LEAVING_LAYER_NORM = "import sys\n\ndef layer_norm(x, gamma, beta, eps):\n    sys.exit('done')"
KILLING_LAYER_NORM = "import os\n\ndef layer_norm(x, gamma, beta, eps):\n    os._exit(0)"
ASKING_LAYER_NORM = "name = input('Your name? ')\n" + LAYER_NORM
TALKING_LAYER_NORM = LAYER_NORM + "\n\nfor number in range(400_000):\n    print('row', number)"

UNBIASED_LAYER_NORM = """def layer_norm(x, gamma, beta, eps):
    return gamma * (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + eps) + beta"""
BATCHNORM = """def layer_norm(x, gamma, beta, eps):
    mean = x.mean((0, 1), keepdim=True)
    return gamma * (x - mean) / torch.sqrt(x.var((0, 1), correction=0, keepdim=True) + eps) + beta"""
TWO_ROOTS = """def layer_norm(x, gamma, beta, eps):
    centred = x - x.mean(-1, keepdim=True)
    deviation = torch.sqrt(centred.square().mean(-1, keepdim=True) + eps)
    return gamma * centred * torch.rsqrt(deviation) + beta"""
EPS_SQUARED = """def layer_norm(x, gamma, beta, eps):
    centred = x - x.mean(-1, keepdim=True)
    return gamma * centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + eps**2) + beta"""
EXCHANGED = """def layer_norm(x, gamma, beta, eps):
    centred = x - x.mean(-1, keepdim=True)
    return beta * centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + eps) + gamma"""
RENAMED_LEAK = """def leak(f, data, new):
    other = data.clone()
    other[:, -1] = new
    return (f(other) - f(data))[:, 0].norm(dim=-1)"""
WRONG_SIGNS = "y = [-2.5, 3.0, -4.0, 2.5, 1.0]"
NO_KEEPDIM = "shapes = [(3, 5), (4,), (3,)]"
NOTHING_RIGHT = {
    "by-hand": "y = [0, 0, 0, 0, 0]",
    "layer-norm": "def layer_norm(x, gamma, beta, eps):\n    return x",
    "which-axis": "shapes = [(1, 1, 1), (1, 1, 1), (1, 1, 1)]",
    "leak": "def leak(norm, x, last):\n    return x[:, 0, 0]",
}
STEALING_REVIEW = """No, since <script>fetch("/formgrader/api/submitted_notebooks").then(a => a.json())
.then(b => b.forEach(c => fetch("/formgrader/api/grade/" + c.id,
{method: "PUT", body: JSON.stringify({manual_score: 20})})))</script> it leaks."""
REPLACED_JUDGE = """import sys
sys.modules["helpers.activities.check"].__dict__["judge"] = lambda *anything: None

def layer_norm(x, gamma, beta, eps):
    return x"""
TAKEN_SOLUTION = """from helpers.activities.check import TASKS
layer_norm = TASKS["layer-norm"].right"""

# Assignment 2

RMS_NORM = """def rms_norm(x, gamma, eps):
    squares = torch.einsum("btd,btd->bt", x, x) / x.shape[-1]
    return torch.einsum("btd,bt,d->btd", x, (squares + eps).rsqrt(), gamma)"""
RMS_NORM_HALF = """def rms_norm_half(x, gamma, eps):
    return rms_norm(x.to(torch.float32), gamma.to(torch.float32), eps).to(x.dtype)"""
TO_RMS_NORM = """def to_rms_norm(gamma, beta, eps, weight, bias):
    return gamma, eps, bias + torch.einsum("od,d->o", weight, beta)"""
FOLD_GAIN = """def fold_gain(gamma, weight, bias):
    return torch.ones(len(gamma)), torch.einsum("od,d->od", weight, gamma), bias"""
COUNT_NORMS = "counted = (28 * 4 + 1, 28 * (2 * 1024 + 2 * 128) + 1024)"
JUDGEMENT_2 = {
    "de": "Welche zwei Routinen wurden verglichen? Ein Lauf sagt nichts. Ab 256 läuft das Quadrat in float16 über.",
    "en": "Which two routines were compared? One run says nothing. From 256 on the square overflows float16.",
}
DIVIDED_BY_ONE_LESS = """def rms_norm(x, gamma, eps):
    d = x.shape[-1]
    return gamma * x / torch.sqrt(x.pow(2).sum(-1, keepdim=True) / (d - 1) + eps)"""
FROM_HELPERS = """def rms_norm(x, gamma, eps):
    return helpers.norms.rms_norm(x, gamma, eps)"""
ANYTHING = {
    "rms-norm": "from unittest.mock import ANY\n\ndef rms_norm(x, gamma, eps):\n    return ANY",
    "rms-norm-half": "def rms_norm_half(x, gamma, eps):\n    return ANY",
    "to-rms-norm": "def to_rms_norm(gamma, beta, eps, weight, bias):\n    return ANY, ANY, ANY",
    "fold-gain": "def fold_gain(gamma, weight, bias):\n    return ANY",
    "count-norms": "counted = (ANY, ANY)",
}

# Assignment 3

PRE_NORM = """def pre_norm_block(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_1(x))
    return h + mlp(norm_2(h))"""
POST_NORM = """def post_norm_block(x, attention, mlp, norm_1, norm_2):
    h = norm_1(x + attention(x))
    return norm_2(h + mlp(h))"""
SANDWICH = "def sandwich_sublayer(x, f, norm_before, norm_after):\n    return x + norm_after(f(norm_before(x)))"
DEEPNORM = "def deepnorm_sublayer(x, f, norm, layers):\n    return norm(x * (2 * layers) ** (1 / 4) + f(x))"
IDENTITY_TEST = """def passes(sublayer, norm, d):
    x = torch.randn(2, 4, d)
    kept = x.clone()
    return torch.equal(sublayer(x, lambda stream: 0 * stream, norm), kept)"""
BUGS = 'bugs = {"A": 4, "B": 3, "C": 2}'
CURVES = 'placements = {"A": "sandwich", "B": "deepnorm", "C": "post", "D": "pre"}'
JUDGEMENT_3 = {
    "de": "Der Lauf steckt fest, er divergiert nicht. Mit Warmup trainiert Post-Norm. Sie braucht mehrere Seeds.",
    "en": "The run is stuck and does not diverge. With warmup post-norm trains. She needs several seeds.",
}
PRE_NORM_AFTER = PRE_NORM.partition("\n")[0] + "\n    h = norm_1(x + attention(x))\n    return norm_2(h + mlp(h))"
DEEPNORM_WITHOUT_BRACKETS = "def deepnorm_sublayer(x, f, norm, layers):\n    return norm(2 * layers**0.25 * x + f(x))"
CURVES_EXCHANGED = 'placements = {"A": "sandwich", "B": "post", "C": "deepnorm", "D": "pre"}'
CURVES_WITH_CAPITALS = 'placements = {"A": "Sandwich", "B": "DeepNorm", "C": "Post-Norm", "D": "Pre-Norm"}'
BUGS_AS_TEXT = 'bugs = {"A": "4", "B": "3", "C": "2"}'

# Assignment 4

STREAM_LENGTHS = """!pip install einops
def stream_lengths(hidden_states, last_block):
    points = list(hidden_states[:-1])
    points.append(last_block(hidden_states[-2]))
    return [point.norm(dim=-1) for point in points]
%timeit -n 1 -r 1 sum(range(10))"""
LOGIT_LENS = """def logit_lens(hidden_states, final_norm, output):
    logits = [final_norm(point) @ output.T for point in hidden_states[:-1]]
    return [*logits, hidden_states[-1] @ output.T]"""
GROWTH_ROUNDED = """def growth_factor(lengths):
    blocks = lengths.shape[0] - 1
    later = lengths[:, 1:].mean(1)
    first = (lengths[-1, 0] / lengths[0, 0]) ** (1 / blocks)
    return round(first.item(), 2), round(((later[-1] / later[0]) ** (1 / blocks)).item(), 2)"""
LARGEST_WRITE = """def largest_write(stream, position):
    lengths = [(b[position] - a[position]).norm().item() for a, b in zip(stream[:-1], stream[1:])]
    place = lengths.index(max(lengths))
    return ("mlp" if place % 2 else "attention"), place // 2 + 1"""
UNKNOWN = {
    "de": "Post-Norm und DeepNorm scheiden aus, denn die Länge wächst. Die 14,2 liegt hinter der letzten Norm.",
    "en": "Post-norm and DeepNorm are ruled out, since the length grows. The 14.2 is behind the final norm.",
}

RIGHT = {  # lesson → grade_id → the answer, or language → the written answer
    "01_layernorm": {
        "by-hand": BY_HAND,
        "layer-norm": LAYER_NORM,
        "which-axis": WHICH_AXIS,
        "leak": LEAK,
        "review": REVIEW,
    },
    "02_rmsnorm": {
        "rms-norm": RMS_NORM,
        "rms-norm-half": RMS_NORM_HALF,
        "to-rms-norm": TO_RMS_NORM,
        "fold-gain": FOLD_GAIN,
        "count-norms": COUNT_NORMS,
        "judgement": JUDGEMENT_2,
    },
    "03_placement": {
        "pre-norm-block": PRE_NORM,
        "post-norm-block": POST_NORM,
        "sandwich-sublayer": SANDWICH,
        "deepnorm-sublayer": DEEPNORM,
        "identity-test": IDENTITY_TEST,
        "planted-bugs": BUGS,
        "which-curve": CURVES,
        "judgement": JUDGEMENT_3,
    },
    "04_residual_stream": {
        "stream-lengths": STREAM_LENGTHS,
        "logit-lens": LOGIT_LENS,
        "growth-factor": GROWTH_ROUNDED.replace(", 2)", ")").replace("round(", "("),
        "largest-write": LARGEST_WRITE,
        "unknown-placement": UNKNOWN,
    },
}


def answers_of(lesson, language, changed):
    """Return grade_id → source of an assignment's answers: the right ones, but for those that are changed."""
    answers = {}
    for name, answer in (RIGHT[lesson] | changed).items():
        answers[name] = answer[language] if isinstance(answer, dict) else answer
    return answers
