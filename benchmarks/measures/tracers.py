"""Trace one random GPT-2 small in several ways; a process of its own, for libraries from PyPI in their environment.

    python -m benchmarks.measures.tracers make FOLDER
    python -m benchmarks.measures.tracers time FOLDER --tokens T --rounds N --sides ours forward "HookedTransformer all"
    python -m benchmarks.measures.tracers peak FOLDER --tokens T --rounds N --sides ours

`make` writes the folder `gpt2` with random weights and a tokenizer. The others print JSON: for `time` the median
seconds of the processor for each side, which take turns (on one thread the elapsed time of an idle machine), for
`peak` the MB by which the resident memory rises at most above what was there before; one side a process.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

KEPT = ("hook_resid_pre", "hook_resid_mid", "hook_resid_post", "hook_attn_out", "hook_mlp_out")
LAYERS = 12
POINTS = 2 * 2 * LAYERS + 2  # the stream before and after each sublayer, what each writes, and the final norm
TOLERANCE = 1e-3
ROOT = Path(__file__).parents[2]
FINAL = "ln_final.hook_normalized"


def run(python, *arguments):
    """Run this module in an environment, by its Python, and return what it prints. Raises RuntimeError if it fails."""
    command = [python, "-m", "benchmarks.measures.tracers", *map(str, arguments)]
    env = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout else None


def make(folder):
    """Write a GPT-2 small with random weights, and a tokenizer that TransformerLens wants and nobody uses."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models

    torch.manual_seed(0)
    # TransformerLens 3 reads n_ctx, which the published config.json has
    transformers.GPT2LMHeadModel(transformers.GPT2Config(n_ctx=1024)).save_pretrained(folder)
    tokenizer = Tokenizer(models.BPE({"a": 0, "<|endoftext|>": 1}, []))
    ends = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **ends).save_pretrained(folder)


def ours(ids):
    """Return two functions, the trace and the bare forward pass without logits; each returns stream, writes, final."""
    from safetensors.torch import load_file

    from helpers.models.transformers_weights import decoder_from_transformers
    from helpers.trace import trace

    settings = json.loads(Path("gpt2/config.json").read_text())
    decoder = decoder_from_transformers(load_file("gpt2/model.safetensors"), settings)

    def traced():
        found = trace(decoder, ids)
        return found.stream, found.writes, found.final

    return {"ours": traced, "forward": lambda: (None, None, decoder.hidden(ids))}


def with_transformers(ids):
    """Return two functions: transformers' own forward pass with all hidden states, and the trace of its model."""
    import transformers

    from helpers.trace import trace

    model = transformers.GPT2LMHeadModel.from_pretrained("gpt2").eval()

    def hidden():
        found = model(ids, output_hidden_states=True)
        return found, None, found.hidden_states[-1]

    def traced():
        found = trace(model, ids)
        return found.stream, found.writes, found.final

    return {"hidden": hidden, "trace": traced}


def from_cache(cache):
    """Return stream, writes and final of an ActivationCache."""
    stream = [cache["blocks.0.hook_resid_pre"]]
    for block in range(LAYERS):
        stream += (cache[f"blocks.{block}.hook_resid_{point}"] for point in ("mid", "post"))
    writes = [cache[f"blocks.{block}.hook_{part}_out"] for block in range(LAYERS) for part in ("attn", "mlp")]
    return stream, writes, cache[FINAL]


def transformer_lens(model, ids):
    """Return two functions: run_with_cache as it comes, and asked for the residual stream and the writes only."""

    def is_wanted(name):
        return name.endswith(KEPT) or name == FINAL

    return {
        "all": lambda: model.run_with_cache(ids)[1],
        "stream": lambda: model.run_with_cache(ids, names_filter=is_wanted, return_type=None)[1],
    }


def hooked_transformer(ids):
    """Return the two functions of TransformerLens 3."""
    from transformer_lens import HookedTransformer

    return transformer_lens(HookedTransformer.from_pretrained_no_processing("gpt2", device="cpu"), ids)


def bridge(ids):
    """Return the two functions of TransformerLens 4."""
    from transformer_lens.model_bridge import TransformerBridge

    return transformer_lens(TransformerBridge.boot_transformers(str(Path("gpt2").resolve()), device="cpu"), ids)


def nnsight(ids):
    """Return a function that keeps the residual stream, the writes and the output of the final norm with nnsight."""
    import nnsight
    import transformers

    model = nnsight.NNsight(transformers.GPT2LMHeadModel.from_pretrained("gpt2").eval().transformer)

    def stream():
        with model.trace(ids):
            kept = nnsight.save([[model.drop.output], []])
            for block in model.h:
                kept[1].append(block.attn.output[0])
                kept[0].append(block.ln_2.input)
                kept[1].append(block.mlp.output)
                kept[0].append(block.output)
            kept.append(model.ln_f.output)
        return kept

    return {"stream": stream}


MAKERS = {
    "ours": ours,
    "transformers": with_transformers,
    "HookedTransformer": hooked_transformer,
    "TransformerBridge": bridge,
    "nnsight": nnsight,
}


def sides_of(names, ids):
    """Return name → function; a name is "ours", "forward", or a library's and what it keeps: "nnsight stream"."""
    made = {}
    sides = {}
    for name in names:
        if name in ("ours", "forward"):
            maker, kept = "ours", name
        else:
            maker, kept = name.split()
        if maker not in made:
            made[maker] = MAKERS[maker](ids)
        sides[name] = made[maker][kept]
    return sides


def must_agree(sides):
    """Raise AssertionError unless every side found the same stream, writes and output of the final norm.

    A side without writes is compared at its end only."""
    expected = sides["ours"]()
    for name, side in sides.items():
        found = side()
        if not isinstance(found, list | tuple):
            found = from_cache(found)
        stream, writes, final = found
        if writes is None:
            stream, writes, _ = expected
        points = [*stream, *writes, final]
        ours = [*expected[0], *expected[1], expected[2]]
        assert len(points) == POINTS, f"{name}: {len(points)} points"
        for number, (own, other) in enumerate(zip(ours, points, strict=True)):
            assert own.shape == other.shape, f"{name}, point {number}: {other.shape}"
            difference = (own - other).abs().max().item()
            assert difference < TOLERANCE, f"{name}, point {number}: {difference:.2g} apart"


def medians(sides, rounds):
    """Run every side in turn; return its median seconds."""
    times = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():  # must_agree has warmed them up
            start = time.process_time()
            kept = side()
            times[name].append(time.process_time() - start)
            del kept
    return {name: statistics.median(values) for name, values in times.items()}


def resident(key):
    """Return a figure of this process's memory in kB, as Linux names it: VmRSS now, VmHWM at most."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{key}:")[1].split()[0])


def peak(side, rounds):
    """Return the MB by which the resident memory rises at most while the side runs, its result kept; Linux, median."""
    risen = []
    side()  # buffers that stay
    for _ in range(rounds):
        ctypes.CDLL(None).malloc_trim(0)  # give back what the last run left, so that it is not used again unseen
        Path("/proc/self/clear_refs").write_text("5")  # sets VmHWM back
        before = resident("VmRSS")
        kept = side()
        risen.append((resident("VmHWM") - before) / 1024)
        del kept
    return statistics.median(risen)


def main():
    """Carry out the command of the command line."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("time", "peak", "make"))
    parser.add_argument("folder")
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sides", nargs="+", default=["ours"])
    args = parser.parse_args()
    os.chdir(args.folder)  # so that "gpt2" means the folder, also to TransformerLens 3, which knows names only
    if args.what == "make":
        make("gpt2")
        return
    ids = torch.arange(args.tokens)[None]
    with torch.no_grad():
        sides = sides_of(args.sides, ids)
        if args.what == "time":
            must_agree(sides)
            found = medians(sides, args.rounds)
        else:
            found = {name: peak(side, args.rounds) for name, side in sides.items()}
    print(json.dumps(found))


if __name__ == "__main__":
    sys.exit(main())
