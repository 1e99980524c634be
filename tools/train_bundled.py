"""Train the bundled family: five small decoders, alike but for the norm, its placement and the rate that it bears.

    python tools/train_bundled.py CORPUS [--only NAME ...] [--steps N] [--peak-rate R] [--out DIR] [--work DIR]
                                   [--threads N]

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

import lessons
from helpers import experiments, gpt
from helpers.language import LANGUAGES

FAST, CAREFUL = {"peak_rate": 2e-3, "warmup": 200}, {"peak_rate": 1e-3, "warmup": 800}
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
OUT = lessons.ROOT / "helpers" / "bundled"


def split(text, held_out=HELD_OUT):
    """Return (training bytes, held-out bytes) of one language: the end of each book is held out."""
    books = [book.encode() + b"\n" for book in text.strip().split("\n\n")]
    cuts = [int(len(book) * (1 - held_out)) for book in books]
    return b"".join(b[:c] for b, c in zip(books, cuts)), b"".join(b[c:] for b, c in zip(books, cuts))


def read_corpus(folder):
    """Return the training ids, (N,) uint8, and a dictionary language → held-out ids, (M,) uint8."""
    parts = {lang: split((Path(folder) / f"{lang}.txt").read_text(encoding="utf8")) for lang in LANGUAGES}
    as_ids = lambda data: torch.frombuffer(bytearray(data), dtype=torch.uint8)
    return as_ids(b"".join(parts[lang][0] for lang in LANGUAGES)), {lang: as_ids(parts[lang][1]) for lang in LANGUAGES}


@torch.no_grad()
def held_out_loss(decoder, ids, batch=64):
    """Return the mean loss in nats per byte over all full windows of the held-out ids."""
    length = decoder.config.positions
    windows = ids[: len(ids) // (length + 1) * (length + 1)].view(-1, length + 1).long()
    losses = [experiments.language_loss(decoder, part).item() * len(part) for part in windows.split(batch)]
    return sum(losses) / len(windows)


def learning_rate(step, steps, peak, warmup):
    """Return the rate at a step: linear warmup from 0 to `peak`, then a cosine down to 0."""
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))


def train(name, data, settings, work):
    """Train one model of the family, from its checkpoint if there is one; return (decoder, losses)."""
    placement, norm, _ = FAMILY[name]
    config = gpt.Config(
        *(settings[k] for k in ("vocab_size", "positions", "width", "layers", "heads")), placement, norm
    )
    decoder = experiments.initialise(gpt.Decoder(config), settings["initialisation"], settings["seed"])
    optimizer = torch.optim.AdamW(
        decoder.parameters(), betas=tuple(settings["betas"]), weight_decay=settings["weight_decay"]
    )
    checkpoint = Path(work) / f"{name}.pt"
    losses = []
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        if saved["settings"] != settings:
            raise SystemExit(f"{checkpoint} was made with other settings; remove it to start over")
        decoder.load_state_dict(saved["decoder"])
        optimizer.load_state_dict(saved["optimizer"])
        losses = saved["losses"]
    steps = settings["steps"]
    progress = tqdm(range(len(losses), steps), initial=len(losses), total=steps, desc=name, mininterval=20)
    for step in progress:
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps, settings["peak_rate"], settings["warmup"])
        windows = experiments.random_windows(data, config.positions, settings["batch"], settings["seed"] * 10**6 + step)
        loss = experiments.language_loss(decoder, windows)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(decoder.parameters(), settings["clip"])
        optimizer.step()
        losses.append(loss.item())
        progress.set_postfix(loss=sum(losses[-50:]) / len(losses[-50:]), refresh=False)
        if len(losses) % SAVE_EVERY == 0 or len(losses) == steps:
            state = {"decoder": decoder.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save(state | {"losses": losses, "settings": settings}, checkpoint.with_suffix(".part"))
            os.replace(checkpoint.with_suffix(".part"), checkpoint)
    return decoder.eval(), losses


def save(name, decoder, losses, held_out, settings, out):
    """Write the float16 weights, and the losses measured with them, into the output folder."""
    weights = {key: value.half().contiguous() for key, value in decoder.state_dict().items()}
    save_file(weights, out / f"{name}.safetensors", metadata={"config": json.dumps(vars(decoder.config))})
    decoder.load_state_dict({key: value.float() for key, value in weights.items()})
    result = {
        "training_loss": sum(losses[-100:]) / len(losses[-100:]),
        "held_out_loss": {lang: held_out_loss(decoder, ids) for lang, ids in held_out.items()},
        "curve": [sum(losses[i : i + 50]) / len(losses[i : i + 50]) for i in range(0, len(losses), 50)],
    }
    versions = {"torch": torch.__version__, "python": platform.python_version(), "threads": torch.get_num_threads()}
    path = out / f"{name}.json"
    path.write_text(json.dumps({"settings": settings, "versions": versions} | result, indent=1) + "\n")


def write_card(out, corpus):
    """Write the model card from the stored results of all models that are there, and the texts they were trained on."""
    results = {
        name: json.loads((out / f"{name}.json").read_text()) for name in FAMILY if (out / f"{name}.json").exists()
    }
    rows = ""
    for name, result in results.items():
        placement, norm, _ = FAMILY[name]
        peak_rate, warmup = (result["settings"].pop(key) for key in ("peak_rate", "warmup"))
        losses = [result["training_loss"], *(result["held_out_loss"][lang] for lang in LANGUAGES)]
        mean = sum(losses[1:]) / len(LANGUAGES)
        rows += (
            f"| `{name}` | {norm} | {placement} | {peak_rate} | {warmup} | "
            + " | ".join(f"{x:.3f}" for x in [*losses, mean])
            + " |\n"
        )
    first = next(iter(results.values()))
    listing = "\n".join(
        f"- {key.replace('_', ' ')}: {value}" for key, value in (first["settings"] | first["versions"]).items()
    )
    texts = {language: Path(corpus, f"{language}.txt").read_bytes() for language in LANGUAGES}
    hashes = "".join(f"- `{language}.txt`: {hashlib.sha256(text).hexdigest()}\n" for language, text in texts.items())
    (out / "README.md").write_text(CARD.format(rows=rows, listing=listing, hashes=hashes))


CARD = """# The bundled family

Five decoders for the lessons, trained alike: the same data in the same order, the same seed and
number of steps. The norm and its placement differ, and with the placement the learning rate: with
the norm after the addition (post, DeepNorm) half the rate and a longer warmup, since post-norm does
not train at much more (`--only ln-post --peak-rate 1.5e-3` stayed at 3.24 nats, the entropy of single
bytes, for 1,000 steps).
They are teaching models: small enough to ship, good enough to show how a trained residual stream
behaves. They are not GPT-2 and write no sensible text. Tokens are UTF-8 bytes. Written by
`tools/train_bundled.py`; do not edit by hand.

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
        settings |= {"peak_rate": args.peak_rate} if args.peak_rate else {}
        decoder, losses = train(name, data, settings, args.work)
        save(name, decoder, losses, held_out, settings, args.out)
        write_card(args.out, args.corpus)


if __name__ == "__main__":
    main()
