"""The training of the bundled family goes on where it stopped, holds out what it says, and writes what it measured."""

import hashlib
import json
import math

import pytest
import torch
import torch.nn.functional as F
from safetensors import safe_open

from helpers import training
from helpers.decoder import Config, Decoder
from training import bundled_family

RATE = {"peak_rate": 1e-3, "warmup": 4}
TINY = bundled_family.SETTINGS | RATE | {"positions": 8, "width": 16, "layers": 2, "heads": 2, "steps": 12, "batch": 4}
TINY |= {"warmup": 3}
BOOKS = {
    "en": "The tea was cold.\nNobody came.\n\nA second book, with a second end.",
    "de": "Der Tee war kalt.\nÖde Gänge überall.\n\nEin zweites Buch – mit „Ende“.",
    "sv": "Teet var kallt.\nIngen kom på ön.\n\nEn andra bok.",
}


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, text in BOOKS.items():
        # long enough that a book's last 5 % fill a few windows
        books = [(book + "\n") * 25 for book in text.split("\n\n")]
        (folder / f"{name}.txt").write_text("\n".join(books), encoding="utf8")
    return folder


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def often_saved(monkeypatch):
    monkeypatch.setattr(bundled_family, "SAVE_EVERY", 5)


@pytest.fixture(autouse=True)
def one_thread():
    # as the command does by default; on a busy machine, threads of tiny models only wait for each other
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def stop_at(monkeypatch, step):
    """Let the training stop in a step, as by Ctrl-C."""
    clip = torch.nn.utils.clip_grad_norm_
    calls = []

    def stopping(*args):
        calls.append(None)
        if len(calls) > step:
            raise KeyboardInterrupt
        return clip(*args)

    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", stopping)


@pytest.mark.slow
@pytest.mark.parametrize("name", bundled_family.FAMILY)
def test_an_interrupted_training_ends_in_the_same_weights_as_an_uninterrupted_one(name, corpus, tmp_path, monkeypatch):
    data, _ = bundled_family.read_corpus(corpus)
    (tmp_path / "whole").mkdir()
    (tmp_path / "parts").mkdir()
    whole, losses = bundled_family.train(name, data, TINY, tmp_path / "whole")
    for step in (7, 4):  # the second time in step 5 + 4
        with monkeypatch.context() as patch:
            stop_at(patch, step)
            with pytest.raises(KeyboardInterrupt):
                bundled_family.train(name, data, TINY, tmp_path / "parts")
        saved = torch.load(tmp_path / "parts" / f"{name}.pt", weights_only=True)
        assert len(saved["losses"]) == 5  # so the rest has to be computed again
    resumed, resumed_losses = bundled_family.train(name, data, TINY, tmp_path / "parts")
    assert resumed_losses == losses and len(losses) == 12
    for key, parameter in whole.state_dict().items():
        assert torch.equal(parameter, resumed.state_dict()[key]), key
    assert not whole.training and not resumed.training
    assert not list((tmp_path / "parts").glob("*.part"))


def test_a_finished_training_is_not_repeated(corpus, work, monkeypatch):
    data, _ = bundled_family.read_corpus(corpus)
    first, losses = bundled_family.train("ln-pre", data, TINY, work)
    monkeypatch.setattr(training, "language_loss", None)
    again, same = bundled_family.train("ln-pre", data, TINY, work)
    assert same == losses
    assert all(torch.equal(p, again.state_dict()[key]) for key, p in first.state_dict().items())


def test_a_checkpoint_with_other_settings_stops_with_a_sentence(corpus, work):
    data, _ = bundled_family.read_corpus(corpus)
    bundled_family.train("ln-pre", data, TINY, work)
    for change in ({"steps": 20}, {"seed": 1}, {"peak_rate": 1.0}):
        with pytest.raises(SystemExit, match="ln-pre.pt was made with other settings; remove it to start over"):
            bundled_family.train("ln-pre", data, TINY | change, work)


def test_training_is_adamw_with_the_settings_as_documented(corpus, work):
    data, _ = bundled_family.read_corpus(corpus)
    trained, losses = bundled_family.train("rms-sandwich", data, TINY, work)
    config = Config(256, 8, 16, 2, 2, "sandwich", "rmsnorm")
    model = training.initialise(Decoder(config), "xavier", 0)
    assert trained.config == config
    adam = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.01)
    for step in range(12):
        adam.param_groups[0]["lr"] = bundled_family.learning_rate(step, 12, TINY["peak_rate"], 3)
        windows = training.random_windows(data, 8, 4, seed=step)
        logits = model(windows[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, 256), windows[:, 1:].reshape(-1))
        assert loss.item() == pytest.approx(losses[step], rel=1e-4)
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
    torch.testing.assert_close(dict(trained.state_dict()), dict(model.state_dict()), rtol=1e-3, atol=1e-5)


def test_models_of_the_family_see_the_same_windows_in_the_same_order(corpus, work, monkeypatch):
    data, _ = bundled_family.read_corpus(corpus)
    seen, loss = [], training.language_loss
    monkeypatch.setattr(training, "language_loss", lambda d, w: seen.append(w) or loss(d, w))
    for name in ("ln-pre", "ln-deepnorm"):
        bundled_family.train(name, data, TINY, work)
    assert torch.equal(torch.stack(seen[:12]), torch.stack(seen[12:]))
    assert len({str(w.tolist()) for w in seen}) == 12  # and not the same window in every step


@pytest.mark.parametrize("text", [*BOOKS.values(), "x", "ö" * 37, "a\nb\n\nc"])
def test_the_split_holds_out_the_end_of_each_book_and_loses_nothing(text):
    books = [book.encode() + b"\n" for book in text.split("\n\n")]
    training, held_out = bundled_family.split(text)
    for book in books:
        kept = int(len(book) * 0.95)
        assert training.startswith(book[:kept]) and held_out.startswith(book[kept:])
        assert 0 < len(book) - kept <= 0.05 * len(book) + 1
        training, held_out = training[kept:], held_out[len(book) - kept :]
    assert training == held_out == b""


def test_the_share_that_is_held_out_can_be_chosen():
    training, held_out = bundled_family.split("abcdefghi", held_out=0.5)
    assert (training, held_out) == (b"abcde", b"fghi\n")


def test_the_corpus_is_read_as_bytes_in_all_three_languages(corpus):
    data, held_out = bundled_family.read_corpus(corpus)
    texts = {lang: (corpus / f"{lang}.txt").read_text(encoding="utf8") for lang in ("en", "de", "sv")}
    parts = {lang: bundled_family.split(text) for lang, text in texts.items()}
    assert data.dtype == torch.uint8
    assert bytes(data.tolist()) == b"".join(parts[lang][0] for lang in ("en", "de", "sv"))
    assert {lang: bytes(ids.tolist()) for lang, ids in held_out.items()} == {lang: p[1] for lang, p in parts.items()}


@pytest.mark.parametrize("batch", (1, 2, 64))
def test_the_held_out_loss_is_the_mean_over_all_full_windows(batch):
    decoder = training.initialise(Decoder(Config(256, 8, 16, 2, 2)), seed=1).eval()
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.mul_(3)
    ids = torch.randint(256, (5 * 9 + 4,), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    losses = []
    for start in range(0, 45, 9):
        window = ids[start : start + 9].long()
        with torch.no_grad():
            logs = decoder(window[None, :-1])[0].double().log_softmax(-1)
        losses += [-logs[t, window[t + 1]].item() for t in range(8)]
    assert bundled_family.held_out_loss(decoder, ids, batch) == pytest.approx(sum(losses) / 40, rel=1e-5)


def test_the_saved_losses_are_those_of_the_saved_weights(tmp_path):
    decoder = training.initialise(Decoder(Config(256, 8, 16, 2, 2)), seed=1).eval()
    before = {key: value.clone() for key, value in decoder.state_dict().items()}
    held_out = {lang: torch.randint(256, (90,), dtype=torch.uint8) for lang in ("en", "de", "sv")}
    losses = [float(i) for i in range(130)]
    bundled_family.save("ln-pre", decoder, losses, held_out, TINY, tmp_path)
    result = json.loads((tmp_path / "ln-pre.json").read_text())
    assert result["training_loss"] == pytest.approx(sum(range(30, 130)) / 100)
    assert result["curve"] == [24.5, 74.5, 114.5]
    assert result["settings"] == TINY and result["versions"]["torch"] == torch.__version__
    with safe_open(tmp_path / "ln-pre.safetensors", "pt") as file:
        stored = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118, the file is no dictionary
        again = Decoder(Config(**json.loads(file.metadata()["config"])))
    assert {tensor.dtype for tensor in stored.values()} == {torch.float16}
    for key, value in before.items():
        torch.testing.assert_close(stored[key].float(), value, rtol=1e-3, atol=1e-7)
    again.load_state_dict(stored)
    for lang, ids in held_out.items():
        assert result["held_out_loss"][lang] == pytest.approx(bundled_family.held_out_loss(again.eval(), ids), rel=1e-6)


def test_a_short_training_has_the_mean_of_its_own_losses(tmp_path):
    decoder = Decoder(Config(256, 8, 16, 1, 2)).eval()
    held_out = {lang: torch.zeros(9, dtype=torch.uint8) for lang in ("en", "de", "sv")}
    bundled_family.save("ln-pre", decoder, [2.0, 4.0], held_out, TINY, tmp_path)
    assert json.loads((tmp_path / "ln-pre.json").read_text())["training_loss"] == 3.0


def test_the_command_trains_saves_and_writes_the_card(corpus, work, tmp_path, monkeypatch):
    monkeypatch.setattr(bundled_family, "SETTINGS", TINY)
    arguments = [corpus, "--only", "ln-pre", "rms-pre", "--steps", 6, "--out", tmp_path / "out", "--work", work]
    monkeypatch.setattr("sys.argv", ["train_bundled.py", *map(str, arguments)])
    bundled_family.main()
    out = tmp_path / "out"
    names = {"README.md", "ln-pre.json", "ln-pre.safetensors", "rms-pre.json", "rms-pre.safetensors"}
    assert {path.name for path in out.iterdir()} == names
    card = (out / "README.md").read_text(encoding="utf8")
    for name, norm in (("ln-pre", "layernorm"), ("rms-pre", "rmsnorm")):
        result = json.loads((out / f"{name}.json").read_text())
        losses = list(result["held_out_loss"].values())
        shown = [result["training_loss"], *losses, sum(losses) / 3]
        assert f"| `{name}` | {norm} | pre | 0.002 | 200 | " + " | ".join(f"{x:.3f}" for x in shown) + " |" in card
        assert result["settings"]["steps"] == 6
    assert "| `ln-post` |" not in card  # only what was trained
    assert all(hashlib.sha256((corpus / f"{name}.txt").read_bytes()).hexdigest() in card for name in BOOKS)
    assert "steps: 6" in card and "width: 16" in card and torch.__version__ in card


def test_a_model_that_is_not_of_the_family_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["train_bundled.py", "corpus", "--only", "gpt2"])
    with pytest.raises(SystemExit):
        bundled_family.main()
    assert "invalid choice: 'gpt2'" in capsys.readouterr().err


def test_the_rate_rises_in_a_line_to_the_peak_and_falls_in_a_cosine_to_zero():
    steps, warmup, peak = 100, 20, 1e-3
    rates = [bundled_family.learning_rate(step, steps, peak, warmup) for step in range(steps + 1)]
    assert rates[:warmup] == pytest.approx([peak * (step + 1) / warmup for step in range(warmup)])
    assert rates[warmup] == max(rates) == peak
    assert rates[60] == pytest.approx(peak / 2)  # halfway down
    assert rates[40] == pytest.approx(peak * (1 + math.sqrt(0.5)) / 2)
    assert rates[steps] == pytest.approx(0, abs=1e-12)
    assert all(a >= b for a, b in zip(rates[warmup:], rates[warmup + 1 :], strict=False))


def test_without_warmup_the_rate_starts_at_the_peak():
    assert bundled_family.learning_rate(0, 10, 0.5, 0) == 0.5
    assert 0 < bundled_family.learning_rate(9, 10, 0.5, 0) < 0.05
    assert bundled_family.learning_rate(3, 4, 0.5, 4) == 0.5  # nothing but warmup
