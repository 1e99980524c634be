"""A student's own model in `models.load` and in the explorer of the stream, as an object and by its name on the hub."""

import doctest
import json
import shutil
import types

import nbformat
import pytest
import torch
import transformers
from IPython.core.formatters import DisplayFormatter
from nbclient import NotebookClient
from tokenizers import Tokenizer
from torch import nn

from helpers import explorers, language, models
from helpers.decoder import Config, Decoder
from helpers.models import loading, own
from helpers.trace import trace
from tests.models.conftest import LLAMA, point_to
from tests.support import loopback_hub

SMALL = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
LANGUAGES = pytest.mark.parametrize("lang", language.LANGUAGES)


def llama(vocab_size=256, **settings):
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=vocab_size, **SMALL, **settings)).eval()


def bert():
    return transformers.BertModel(transformers.BertConfig(vocab_size=256, **SMALL))


@pytest.fixture(scope="module")
def tokenizer(folders):
    return transformers.PreTrainedTokenizerFast(tokenizer_file=str(folders["gpt2"] / "tokenizer.json"))


def refused(*arguments):
    """Return the sentence with which a model is refused."""
    with pytest.raises(ValueError) as caught:
        models.load(*arguments)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400
    return str(caught.value)


# ---- an object ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [loading, explorers])
def test_the_examples_of_the_docstrings_run(module):
    assert doctest.testmod(module).failed == 0


def test_a_decoder_with_its_tokenizer_is_read_as_transformers_reads_it(tokenizer, folders):
    decoder = llama(300)
    model = models.load(decoder, tokenizer)
    ids = model.encode("The tea")
    assert model.name == "LlamaForCausalLM" and model.decoder is decoder
    assert ids.tolist() == tokenizer("The tea").input_ids
    assert model.pieces(ids) == ["The", "·", "tea"] or "".join(model.pieces(ids)) == "The·tea"
    expected = decoder(ids[None], output_hidden_states=True).hidden_states[1][0].norm(dim=-1)
    assert torch.allclose(trace(model.decoder, ids).lengths()[2], expected, atol=1e-5)
    from_the_other_library = models.load(decoder, tokenizer.backend_tokenizer)
    assert torch.equal(from_the_other_library.encode("The tea"), ids)


def test_a_vocabulary_of_256_entries_needs_no_tokenizer():
    model = models.load(llama())
    assert model.encode("Tea").tolist() == [84, 101, 97]


def test_a_decoder_of_this_project_is_taken_too():
    decoder = Decoder(Config(256, 16, 24, 2, 2, "sandwich")).eval()
    explorer = explorers.residual_stream(decoder, prompt="Tea")
    assert explorer.error is None and explorer.picture.alt.startswith("Decoder")


@pytest.mark.parametrize("positions", [16, 100_000])
def test_a_long_prompt_is_cut_at_the_models_positions_or_at_1024(positions):
    model = models.load(llama(max_position_embeddings=positions))
    limit = min(positions, 1024)
    assert len(model.encode("x" * 5000)) == limit and str(limit) in model.notice("x" * 5000)


WRONG = {
    "a layer": lambda: torch.nn.Linear(2, 2),
    "a number": lambda: 3,
    "nothing": lambda: None,
    "a list": lambda: ["gpt2"],
    "a class": lambda: transformers.LlamaForCausalLM,
    "a configuration": lambda: transformers.LlamaConfig(vocab_size=256, **SMALL),
    "an encoder": bert,
    "a tensor": lambda: torch.zeros(3),
}


@pytest.mark.parametrize("wrong", WRONG)
@LANGUAGES
def test_what_is_no_decoder_gets_a_sentence_that_names_its_kind(wrong, lang):
    language.use(lang)
    thing = WRONG[wrong]()
    kind = thing.__name__ if isinstance(thing, type) else type(thing).__name__
    assert kind in refused(thing)
    with pytest.raises(ValueError, match=kind):
        explorers.residual_stream(thing)


@LANGUAGES
def test_a_tokenizer_that_is_missing_or_wrong_gets_a_sentence(lang, tokenizer):
    language.use(lang)
    assert "models.load(model, tokenizer)" in refused(llama(300))
    assert "str" in refused(llama(300), "gpt2")
    assert "LlamaForCausalLM" in refused(llama(300), llama())
    assert "19" in refused(llama(20), tokenizer)  # ids up to 299
    assert "gpt2" in refused("gpt2", tokenizer)


@pytest.mark.slow
def test_a_notebook_shows_the_sentence_alone():
    """Not the printed model, and no traceback."""
    source = "import torch\nfrom helpers import explorers\nexplorers.residual_stream(torch.nn.Linear(2, 2))"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    NotebookClient(notebook, allow_errors=True).execute()
    (output,) = notebook.cells[0].outputs
    assert output.output_type == "error" and len(output.traceback) == 1
    assert output.traceback[0].startswith("Linear is not a decoder") and "\n" not in output.traceback[0]


# ---- the explorer ------------------------------------------------------------------------------------------------


@LANGUAGES
def test_the_explorer_shows_an_own_model_without_another_placement(lang, tokenizer):
    language.use(lang)
    model = models.load(llama(300), tokenizer)
    for explorer in (
        explorers.residual_stream(model, prompt="The tea"),
        explorers.residual_stream(model.decoder, prompt="The tea", tokenizer=tokenizer),
    ):
        assert explorer.error is None and not {"model", "placement"} & explorer.controls.keys()
        assert explorer.picture.alt.startswith("LlamaForCausalLM") and "tea" in explorer.picture.alt
        lengths = trace(model.decoder, model.encode("The tea")).lengths()[:, -1]
        assert language.number(lengths[0]) in explorer.picture.alt
        assert language.number(lengths[-1]) in explorer.picture.alt
        explorer.controls["prompt"].value = "cold"
        explorer.controls["writes"].value = True
        explorer.controls["quantity"].value = "rms"
        assert explorer.error is None and "ld" in explorer.picture.alt  # the last token of "cold"


def test_gpt2s_published_curve_is_beside_an_own_model_only_if_asked_for():
    assert not explorers.residual_stream(llama(), prompt="Tea").controls["reference"].value
    explorer = explorers.residual_stream(llama(), prompt="Tea", reference=True)
    assert "GPT-2 small" in explorer.picture.alt


def test_a_placement_for_an_own_model_gets_a_sentence():
    with pytest.raises(ValueError, match="“post” is not a choice here"):
        explorers.residual_stream(llama(), "post")


@LANGUAGES
@pytest.mark.parametrize("own", [True, False])
def test_hard_prompts_get_a_sentence_and_no_exception(own, lang):
    """`prompt=""` showed the example."""
    language.use(lang)
    model = models.load(llama()) if own else "bundled/ln-pre"
    empty = explorers.residual_stream(model, prompt="")
    assert empty.error is None and empty.picture is None
    assert language.say("load.empty") in empty.message.value
    assert language.say("explorer.last") not in empty.message.value  # there is no picture
    empty.controls["prompt"].value = "Tea"
    assert empty.error is None and empty.picture is not None
    long = explorers.residual_stream(model, prompt="ord " * 5000)
    assert long.error is None and "20000" in long.message.value
    with pytest.raises(ValueError, match="int"):
        explorers.residual_stream(model, prompt=3)


@pytest.mark.slow
def test_half_of_a_surrogate_pair_as_prompt_in_a_live_kernel():
    """The widget's message to the browser ended in UnicodeEncodeError."""
    source = 'from helpers import explorers\nexplorers.residual_stream("bundled/ln-pre", prompt="Tea \\ud800")'
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    NotebookClient(notebook, allow_errors=True).execute()
    outputs = notebook.cells[0].outputs
    assert not [output for output in outputs if output.output_type == "error"], outputs
    explorer = explorers.residual_stream("bundled/ln-pre", prompt="Tea \ud800")
    assert language.say("load.half") in explorer.message.value.replace("&quot;", '"')


# ---- a name on the hub -------------------------------------------------------------------------------------------


def test_a_repository_is_loaded_and_its_commit_told(hub, told, folders, monkeypatch):
    model = models.load(LLAMA, tell=told.append)
    assert model.name == LLAMA and not model.decoder.training
    assert LLAMA in told[0] and loopback_hub.COMMIT in told[1] and len(told) == 2
    expected = transformers.AutoModelForCausalLM.from_pretrained(folders[LLAMA]).eval()
    ids = model.encode("The tea")
    assert torch.equal(model.decoder(ids[None]).logits, expected(ids[None]).logits)
    point_to(monkeypatch, "http://127.0.0.1:9")  # from the cache, and the commit is told again
    told.clear()
    assert models.load(LLAMA, tell=told.append).name == LLAMA
    assert len(told) == 1 and loopback_hub.COMMIT in told[0]
    explorer = explorers.residual_stream(LLAMA, prompt="The tea")
    assert explorer.error is None and explorer.picture.alt.startswith(LLAMA)


@LANGUAGES
def test_a_repository_that_is_none_gets_a_sentence(lang, hub):
    language.use(lang)
    assert "students/nothing" in refused("students/nothing")
    hub.fault = "gated"
    assert LLAMA in refused(LLAMA)


def test_without_a_network_a_bundled_model_stands_in(hub, told, monkeypatch):
    point_to(monkeypatch, "http://127.0.0.1:9")
    assert models.load(LLAMA, tell=told.append).name == "bundled/ln-pre"
    assert len(told) == 1 and LLAMA in told[0] and language.say("load.unreachable_how") in told[0]
    explorer = explorers.residual_stream(LLAMA, prompt="Tea")
    assert explorer.error is None and explorer.picture.alt.startswith("bundled: LayerNorm, pre-norm")


@pytest.fixture
def repository(hub, folders, tmp_path):
    """A copy of the Llama's repository, to be changed."""
    folder = tmp_path / "repository"
    shutil.copytree(folders[LLAMA], folder)
    hub.repositories[LLAMA] = folder
    return folder


@LANGUAGES
@pytest.mark.parametrize("file", models.FILES)
def test_a_repository_without_safetensors_or_tokenizer_gets_a_sentence(file, lang, hub, repository):
    language.use(lang)
    (repository / file).rename(repository / "pytorch_model.bin")
    assert "model.safetensors" in refused(LLAMA)
    assert not hub.downloads("pytorch_model.bin")


def test_code_of_a_repository_is_not_run(hub, repository, tmp_path):
    marker = tmp_path / "ran"
    (repository / "own.py").write_text(f"open({str(marker)!r}, 'w')\nclass Model: pass\nclass Settings: pass\n")
    config = json.loads((repository / "config.json").read_text())
    config |= {"model_type": "students-own", "architectures": ["Model"]}
    config["auto_map"] = {"AutoConfig": "own.Settings", "AutoModelForCausalLM": "own.Model"}
    (repository / "config.json").write_text(json.dumps(config))
    assert LLAMA in refused(LLAMA)
    assert not marker.exists() and not hub.downloads("own.py")


def test_a_repository_of_another_kind_of_model_gets_a_sentence(hub, repository):
    """What the file lacks, transformers fills with random numbers."""
    bert().save_pretrained(repository)
    assert refused(LLAMA) == language.say("load.not_a_decoder", kind=LLAMA)


def test_weights_that_are_too_large_are_refused_before_the_download(hub, monkeypatch):
    monkeypatch.setattr(own, "LARGEST", 100_000)
    assert LLAMA in refused(LLAMA)
    assert hub.downloads() == []


# ---- modules and tokenizers of one's own -------------------------------------------------------------------------


class OwnBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = nn.Linear(width, width)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.Linear(width, width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class OwnDecoder(nn.Module):
    """A decoder as a student writes it, with names that the trace knows; its `forward` reads ids and nothing else."""

    def __init__(self, vocab_size=256, positions=64, width=8):
        super().__init__()
        torch.manual_seed(0)
        self.wte = nn.Embedding(vocab_size, width)
        self.wpe = nn.Embedding(positions, width)
        self.h = nn.ModuleList([OwnBlock(width), OwnBlock(width)])
        self.ln_f = nn.LayerNorm(width)

    def forward(self, idx):
        x = self.wte(idx) + self.wpe.weight[: idx.shape[1]]
        for block in self.h:
            x = block(x)
        return self.ln_f(x)


class Failing(OwnDecoder):
    def forward(self, idx):
        raise RuntimeError("shapes 3 and 4")


class Characters:
    """A tokenizer as a student writes it."""

    def __init__(self, known="abcdefghijklmnopqrstuvwxyz ."):
        self.known = known

    def encode(self, text):
        return [self.known.index(character) for character in text]

    def decode(self, ids):
        return "".join(self.known[i] for i in ids)


class CharactersInTensors(Characters):
    def encode(self, text):
        return torch.tensor(super().encode(text))


class Halved(Characters):
    """It cannot say what its ids mean."""

    decode = None


@pytest.mark.parametrize("config", [None, types.SimpleNamespace(vocab_size=256), types.SimpleNamespace(block_size=9)])
def test_a_module_of_ones_own_needs_no_configuration_of_transformers(config):
    """With a configuration of its own it was called with `use_cache`, and without one it was refused."""
    decoder = OwnDecoder()
    if config is not None:
        decoder.config = config
    model = models.load(decoder)
    assert model.positions == (9 if hasattr(config, "block_size") else 64)
    explorer = explorers.residual_stream(decoder, prompt="x" * 100)
    assert explorer.error is None and explorer.picture.alt.startswith("OwnDecoder")


@pytest.mark.parametrize("kind", [Characters, CharactersInTensors])
def test_a_tokenizer_of_characters_is_taken(kind):
    """It was taken by `load`, and the explorer then failed with a "picture above" where none was."""
    tokenizer = kind()
    model = models.load(OwnDecoder(28), tokenizer)
    assert model.encode("the tea").tolist() == [tokenizer.known.index(character) for character in "the tea"]
    assert model.pieces(model.encode("a b")) == ["a", "·", "b"]
    explorer = explorers.residual_stream(model, prompt="the tea")
    assert explorer.error is None and "“a”" in explorer.picture.alt


@LANGUAGES
def test_a_character_that_a_tokenizer_does_not_know_gets_a_sentence(lang):
    language.use(lang)
    model = models.load(OwnDecoder(28), Characters())
    with pytest.raises(models.Refused) as caught:
        model.encode("Tea")
    assert str(caught.value) == language.say("load.not_read", problem="ValueError: substring not found")
    explorer = explorers.residual_stream(model, prompt="Tea")
    assert explorer.picture is None and language.say("explorer.last") not in explorer.message.value
    explorer.controls["prompt"].value = "tea"
    assert explorer.picture is not None
    explorer.controls["prompt"].value = "TEA"
    assert language.say("explorer.last") in explorer.message.value


@LANGUAGES
def test_a_tokenizer_without_decode_is_refused_at_once(lang):
    language.use(lang)
    assert "Halved" in refused(OwnDecoder(28), Halved())
    without = types.SimpleNamespace(encode=Characters().encode)
    assert "SimpleNamespace" in refused(OwnDecoder(28), without)


@LANGUAGES
def test_whatever_a_module_raises_in_the_trial_run_becomes_a_sentence(lang):
    language.use(lang)
    assert "Failing" in refused(Failing()) and "RuntimeError: shapes 3 and 4" in refused(Failing())


@LANGUAGES
def test_a_model_without_weights_gets_a_sentence(lang):
    """It was a RuntimeError of torch."""
    language.use(lang)
    with torch.device("meta"):
        for decoder in (llama(), OwnDecoder(), Decoder(Config(256, 16, 24, 2, 2))):
            assert "meta" in refused(decoder) and type(decoder).__name__ in refused(decoder)


@LANGUAGES
def test_of_a_model_of_pictures_and_text_the_part_to_load_is_named(lang, tokenizer):
    """The sentence told what to give the trace, though it was `load` that was called."""
    language.use(lang)
    text = {"model_type": "llama", "vocab_size": 300, **SMALL}
    vision = {"model_type": "clip_vision_model", "image_size": 8, "patch_size": 4, **SMALL}
    config = transformers.LlavaConfig(text_config=text, vision_config=vision)
    model = transformers.LlavaForConditionalGeneration(config).eval()
    sentence = refused(model, tokenizer)
    assert "models.load(model.model.language_model, tokenizer)" in sentence and "trace(" not in sentence
    assert models.load(model.model.language_model, tokenizer).encode("The tea").tolist()


@LANGUAGES
def test_a_folder_is_not_taken_for_a_repository(lang, tmp_path, monkeypatch):
    """A bundled model stood in for "out/checkpoint-500", which the student had trained."""
    language.use(lang)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out" / "checkpoint-500").mkdir(parents=True)
    for name in ("out/checkpoint-500", "./out", str(tmp_path)):
        assert refused(name) == language.say("load.folder", name=name)
        with pytest.raises(models.Refused):
            explorers.residual_stream(name)


def test_a_tokenizer_beside_a_loaded_model_gets_a_sentence():
    """It was ignored."""
    model = models.load(llama())
    with pytest.raises(models.Refused, match="LlamaForCausalLM"):
        explorers.residual_stream(model, tokenizer="nonsense")


def test_showing_an_own_model_again_runs_it_again():
    """After a step of training it showed the numbers from before."""
    decoder = OwnDecoder()
    explorer = explorers.residual_stream(decoder, prompt="Tea")
    before = explorer.picture.alt
    with torch.no_grad():
        decoder.wte.weight.mul_(3)
    data, _ = DisplayFormatter().format(explorer)
    lengths = trace(decoder, models.load(decoder).encode("Tea")).lengths()[:, -1]
    assert explorer.picture.alt != before and language.number(lengths[-1]) in explorer.picture.alt
    assert data["text/plain"] == explorer.picture.alt


# ---- stored padding and truncation -------------------------------------------------------------------------------


def test_stored_padding_and_truncation_are_not_used(tokenizer):
    """Short prompts were filled up with padding, and long ones cut, without a word."""
    plain = tokenizer.backend_tokenizer
    expected = plain.encode("The tea").ids
    stored = Tokenizer.from_str(plain.to_str())
    stored.enable_padding(length=30)
    stored.enable_truncation(1)
    model = models.load(llama(300), stored)
    assert model.encode("The tea").tolist() == expected and model.notice("The tea") == ""
    assert stored.padding["length"] == 30 and stored.truncation["max_length"] == 1, "the student's stays as it is"


def test_stored_padding_and_truncation_of_a_repository_are_not_used(hub, repository):
    file = repository / "tokenizer.json"
    stored = Tokenizer.from_file(str(file))
    expected = stored.encode("The tea").ids
    stored.enable_padding(length=30)
    stored.enable_truncation(1)
    stored.save(str(file))
    assert models.load(LLAMA).encode("The tea").tolist() == expected


def test_the_trace_of_a_loaded_model_says_which_part_it_reads():
    """For a decoder of transformers it said only that it got a Model."""
    model = models.load(llama())
    with pytest.raises(ValueError, match=r"model\.decoder"):
        trace(model, model.encode("Tea"))
