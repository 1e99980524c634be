"""Train the bundled family: five small decoders, alike but for the norm, its placement and the rate that it bears.

    python tools/training/bundled_family.py CORPUS [--only NAME ...] [--steps N] [--peak-rate R]
                                            [--out DIR] [--work DIR] [--threads N]

CORPUS is a folder with en.txt, de.txt and sv.txt: one paragraph a line, a blank line between
books. The last 5 % of each book are held out. Steps:
1. read the corpus as UTF-8 bytes, split it into training and held-out text;
2. train each model on the same windows in the same order, saving a checkpoint every 200 steps
   in the work folder, from which an interrupted run goes on;
3. write float16 weights, the losses and the model card into the output folder.
The same seed on the same machine and with the same number of threads gives the same weights.
"""

import argparse
import hashlib
import json
import math
import os
import platform
from pathlib import Path

import torch
from safetensors.torch import save_file
from tqdm import tqdm

from helpers import training
from helpers.decoder import Config, Decoder

LANGUAGES = ("en", "de", "sv")  # of the corpus, in this order

FAST = {"peak_rate": 2e-3, "warmup": 200}
CAREFUL = {"peak_rate": 1e-3, "warmup": 800}
FAMILY = {  # placement, norm, and the rate that its placement bears: at 1.5e-3 post-norm stays at the unigram entropy
    "ln-pre": ("pre", "layernorm", FAST),
    "ln-post": ("post", "layernorm", CAREFUL),
    "rms-pre": ("pre", "rmsnorm", FAST),
    "rms-sandwich": ("sandwich", "rmsnorm", FAST),
    "ln-deepnorm": ("deepnorm", "layernorm", CAREFUL),
}
SETTINGS = {
    "vocab_size": 256, "positions": 128, "width": 96, "layers": 12, "heads": 4,
    "steps": 4000, "batch": 16, "weight_decay": 0.01,
    "betas": [0.9, 0.98], "clip": 1.0, "initialisation": "xavier", "seed": 0,
}  # fmt: skip
HELD_OUT = 0.05
SAVE_EVERY = 200
OUT = Path(__file__).parents[2] / "helpers" / "models" / "bundled"


def split(text, held_out=HELD_OUT):
    """Return (training bytes, held-out bytes) of one language: the end of each book is held out."""
    beginnings = []
    ends = []
    for text_of_book in text.strip().split("\n\n"):
        book = text_of_book.encode() + b"\n"
        cut = int(len(book) * (1 - held_out))
        beginnings.append(book[:cut])
        ends.append(book[cut:])
    return b"".join(beginnings), b"".join(ends)


def read_corpus(folder):
    """Return the training ids, (N,) uint8, and a dictionary language → held-out ids, (M,) uint8."""
    training = b""
    held_out = {}
    for language in LANGUAGES:
        text = (Path(folder) / f"{language}.txt").read_text(encoding="utf8")
        beginning, end = split(text)
        training += beginning
        held_out[language] = ids_of(end)
    return ids_of(training), held_out


def ids_of(data):
    """Return bytes as token ids, (N,) uint8."""
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)


@torch.no_grad()
def held_out_loss(decoder, ids, batch=64):
    """Return the mean loss in nats per byte over all full windows of the held-out ids."""
    length = decoder.config.positions + 1  # the last token of a window is only predicted
    full = len(ids) // length
    windows = ids[: full * length].view(full, length).long()
    total = 0.0
    for part in windows.split(batch):
        total += training.language_loss(decoder, part).item() * len(part)
    return total / full


def learning_rate(step, steps, peak, warmup):
    """Return the rate at a step: linear warmup from 0 to `peak`, then a cosine down to 0."""
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))


def train(name, data, settings, work):
    """Train one model of the family, from its checkpoint if there is one; return (decoder, losses).

    data: the training ids, (N,) uint8. work: the folder of the checkpoints. Raises SystemExit for a checkpoint that was
    made with other settings."""
    decoder = new_decoder(name, settings)
    optimizer = torch.optim.AdamW(
        decoder.parameters(), betas=tuple(settings["betas"]), weight_decay=settings["weight_decay"]
    )
    checkpoint = Path(work) / f"{name}.pt"
    losses = go_on_from(checkpoint, decoder, optimizer, settings)
    steps = settings["steps"]
    positions = decoder.config.positions
    progress = tqdm(range(len(losses), steps), initial=len(losses), total=steps, desc=name, mininterval=20)
    for step in progress:
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps, settings["peak_rate"], settings["warmup"])
        seed = settings["seed"] * 10**6 + step
        windows = training.random_windows(data, positions, settings["batch"], seed)
        loss = training.language_loss(decoder, windows)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(decoder.parameters(), settings["clip"])
        optimizer.step()
        losses.append(loss.item())
        progress.set_postfix(loss=mean(losses[-50:]), refresh=False)
        if len(losses) % SAVE_EVERY == 0 or len(losses) == steps:
            save_checkpoint(checkpoint, decoder, optimizer, losses, settings)
    return decoder.eval(), losses


def new_decoder(name, settings):
    """Return an initialised decoder of the family."""
    placement, norm, _ = FAMILY[name]
    sizes = [settings[key] for key in ("vocab_size", "positions", "width", "layers", "heads")]
    decoder = Decoder(Config(*sizes, placement, norm))
    return training.initialise(decoder, settings["initialisation"], settings["seed"])


def go_on_from(checkpoint, decoder, optimizer, settings):
    """Load the state of an interrupted training, if there is one; return the losses so far."""
    if not checkpoint.exists():
        return []
    saved = torch.load(checkpoint, weights_only=True)
    if saved["settings"] != settings:
        raise SystemExit(f"{checkpoint} was made with other settings; remove it to start over")
    decoder.load_state_dict(saved["decoder"])
    optimizer.load_state_dict(saved["optimizer"])
    return saved["losses"]


def save_checkpoint(checkpoint, decoder, optimizer, losses, settings):
    """Write the state of a training in one step."""
    part = checkpoint.with_suffix(".part")
    state = {
        "decoder": decoder.state_dict(),
        "optimizer": optimizer.state_dict(),
        "losses": losses,
        "settings": settings,
    }
    torch.save(state, part)
    os.replace(part, checkpoint)


def mean(values):
    """Return the mean of a list of numbers."""
    return sum(values) / len(values)


def save(name, decoder, losses, held_out, settings, out):
    """Write the float16 weights, and the losses measured with them, into the output folder."""
    weights = {key: value.half().contiguous() for key, value in decoder.state_dict().items()}
    save_file(weights, out / f"{name}.safetensors", metadata={"config": json.dumps(vars(decoder.config))})
    decoder.load_state_dict({key: value.float() for key, value in weights.items()})
    result = {
        "training_loss": mean(losses[-100:]),
        "held_out_loss": {lang: held_out_loss(decoder, ids) for lang, ids in held_out.items()},
        "curve": [mean(losses[start : start + 50]) for start in range(0, len(losses), 50)],
    }
    versions = {"torch": torch.__version__, "python": platform.python_version(), "threads": torch.get_num_threads()}
    path = out / f"{name}.json"
    path.write_text(json.dumps({"settings": settings, "versions": versions} | result, indent=1) + "\n")


def write_card(out, corpus):
    """Write the model card from the stored results of all models that are there, and the texts they were trained on."""
    results = {}
    for name in FAMILY:
        path = out / f"{name}.json"
        if path.exists():
            results[name] = json.loads(path.read_text())
    rows = "".join(row_of_card(name, result) for name, result in results.items())
    first = next(iter(results.values()))
    shared = {key: value for key, value in first["settings"].items() if key not in FAST} | first["versions"]
    listing = "\n".join(f"- {key.replace('_', ' ')}: {value}" for key, value in shared.items())
    hashes = ""
    for language in LANGUAGES:
        text = Path(corpus, f"{language}.txt").read_bytes()
        hashes += f"- `{language}.txt`: {hashlib.sha256(text).hexdigest()}\n"
    (out / "README.md").write_text(CARD.format(rows=rows, listing=listing, hashes=hashes))


def row_of_card(name, result):
    """Return the row of a model in the card's table."""
    placement, norm, _ = FAMILY[name]
    settings = result["settings"]
    held_out = [result["held_out_loss"][language] for language in LANGUAGES]
    losses = [result["training_loss"], *held_out, mean(held_out)]
    shown = " | ".join(f"{loss:.3f}" for loss in losses)
    return f"| `{name}` | {norm} | {placement} | {settings['peak_rate']} | {settings['warmup']} | {shown} |\n"


CARD = """# The bundled family

Five decoders for the lessons, trained alike: the same data in the same order, the same seed and
number of steps. The norm and its placement differ, and with the placement the learning rate: with
the norm after the addition (post, DeepNorm) half the rate and a longer warmup, since post-norm does
not train at much more (`--only ln-post --peak-rate 1.5e-3` stayed at 3.24 nats, the entropy of single
bytes, for 1,000 steps).
They are teaching models: small enough to ship, good enough to show how a trained residual stream
behaves. They are not GPT-2 and write no sensible text. Tokens are UTF-8 bytes. Written by
`tools/training/bundled_family.py`; do not edit by hand.

Loss in nats per byte: training is the mean of the last 100 steps; held-out text is the last 5% of
each book, evaluated with the float16 weights that are shipped.

| model | norm | placement | peak rate | warmup | training | en | de | sv | mean of en, de, sv |
|---|---|---|---|---|---|---|---|---|---|
{rows}
## How they were trained
{listing}

AdamW, linear warmup, then a cosine down to 0. DeepNorm uses α = (2N)^¼ on the residual path and the gain
β = (8N)^−¼ at initialisation (Wang et al. 2022), N = 12.

## Data and licence
Literature in the public domain, from the European Literary Text Collection (ELTeC), licence CC BY 4.0:
Carroll, Alice's Adventures in Wonderland; Wells, The Time Machine; Doyle, The Sign of Four; E. Brontë,
Wuthering Heights; Fontane, Grete Minde, Unterm Birnbaum, Irrungen, Wirrungen; Schnitzler, Casanovas
Heimfahrt; Strindberg, Hemsöborna; Söderberg, Doktor Glas; Lagerlöf, Körkarlen; Strindberg, Röda rummet.
The texts are not part of this project. They were read as plain UTF-8, one paragraph a line and a blank line
between the books, in this order. The SHA-256 of the three files:

{hashes}
The weights are under the licence of the project.
"""


def main():
    """Carry out the command of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--only", nargs="+", choices=FAMILY, default=list(FAMILY))
    parser.add_argument("--steps", type=int, default=SETTINGS["steps"])
    parser.add_argument("--peak-rate", type=float, help="in place of the rate of the model's placement")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--work", type=Path, default=Path("build/train"))
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    args.work.mkdir(parents=True, exist_ok=True)
    data, held_out = read_corpus(args.corpus)
    for name in args.only:
        settings = SETTINGS | FAMILY[name][2] | {"steps": args.steps}
        if args.peak_rate:
            settings["peak_rate"] = args.peak_rate
        decoder, losses = train(name, data, settings, args.work)
        save(name, decoder, losses, held_out, settings, args.out)
        write_card(args.out, args.corpus)


if __name__ == "__main__":
    main()
