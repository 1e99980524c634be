"""The weights that are shipped: all there, small, loadable, trained as the card says."""

import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from helpers import models
from helpers.decoder import Config, Decoder
from helpers.language import LANGUAGES
from training import bundled_family

BUNDLED = Path(models.__file__).parent / "bundled"
FAMILY = bundled_family.FAMILY


def read(name):
    """Return the decoder of a shipped file, as anyone would load it, and the file's tensors."""
    with safe_open(BUNDLED / f"{name}.safetensors", "pt") as file:
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118, the file is no dictionary
        decoder = Decoder(Config(**json.loads(file.metadata()["config"])))
    decoder.load_state_dict(tensors)
    return decoder.eval(), tensors


def result(name):
    return json.loads((BUNDLED / f"{name}.json").read_text(encoding="utf8"))


def mean_held_out(name):
    return sum(result(name)["held_out_loss"][language] for language in LANGUAGES) / len(LANGUAGES)


def test_all_five_models_are_shipped_and_nothing_else_in_at_most_16_mb():
    assert {path.stem for path in BUNDLED.glob("*.safetensors")} == set(FAMILY)
    assert list(models.BUNDLED) == [f"bundled/{name}" for name in FAMILY] and len(FAMILY) == 5
    assert sum(path.stat().st_size for path in BUNDLED.rglob("*") if path.is_file()) <= 16e6


@pytest.mark.parametrize("name", FAMILY)
def test_a_shipped_model_loads_and_is_what_its_name_says(name):
    decoder, tensors = read(name)
    config = decoder.config
    assert (config.placement, config.norm) == FAMILY[name][:2]
    assert (config.vocab_size, config.layers) == (256, 12)  # bytes; the blocks of GPT-2 small
    assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}
    assert all(tensor.isfinite().all() for tensor in tensors.values())
    with torch.no_grad():
        assert decoder(torch.tensor([list("Grüße, så här".encode())])).isfinite().all()


@torch.no_grad()
@pytest.mark.parametrize("name", FAMILY)
def test_a_shipped_model_has_learned_to_read(name):
    # plain sentences that are in no book of the corpus; without training the loss is ln 256 = 5.5
    decoder, _ = read(name)
    for text in (
        "She opened the door and looked at the garden.",
        "Sie öffnete die Tür und sah in den Garten.",
        "Hon öppnade dörren och såg ut i trädgården.",
    ):
        ids = torch.tensor(list(text.encode()))
        loss = torch.nn.functional.cross_entropy(decoder(ids[None, :-1])[0], ids[1:]).item()
        assert loss < 2.6, text


@pytest.mark.parametrize("name", FAMILY)
def test_a_model_was_trained_like_the_others_but_for_norm_placement_and_the_rate_it_bears(name):
    assert result(name)["settings"] == bundled_family.SETTINGS | FAMILY[name][2]
    like = "ln-post" if FAMILY[name][0] in ("post", "deepnorm") else "ln-pre"
    assert result(name)["settings"] == result(like)["settings"]
    config = dict(vars(read(name)[0].config), placement=None, norm=None)
    assert config == dict(vars(read("ln-pre")[0].config), placement=None, norm=None)


@pytest.mark.parametrize("name", FAMILY)
def test_the_losses_are_close_enough_to_compare_the_placements(name):
    assert mean_held_out("ln-pre") <= 1.60
    assert abs(mean_held_out(name) - mean_held_out("ln-pre")) <= 0.20


@pytest.mark.parametrize("name", FAMILY)
def test_the_card_lists_what_was_measured(name):
    card = (BUNDLED / "README.md").read_text(encoding="utf8")
    placement, norm, rate = FAMILY[name]
    losses = [result(name)["training_loss"], *(result(name)["held_out_loss"][lang] for lang in LANGUAGES)]
    row = " | ".join(f"{loss:.3f}" for loss in [*losses, mean_held_out(name)])
    assert f"| `{name}` | {norm} | {placement} | {rate['peak_rate']} | {rate['warmup']} | {row} |" in card
    for key, value in (bundled_family.SETTINGS | result(name)["versions"]).items():
        assert f"- {key.replace('_', ' ')}: {value}\n" in card
    assert "CC BY 4.0" in card and "not GPT-2" in card


@pytest.mark.parametrize("name", FAMILY)
def test_the_curve_falls_to_the_training_loss(name):
    curve = result(name)["curve"]
    assert len(curve) == -(-result(name)["settings"]["steps"] // 50)
    assert curve[0] > 2.5 and curve[-1] < 2
    assert sum(curve[-2:]) / 2 == pytest.approx(result(name)["training_loss"])
