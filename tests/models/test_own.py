"""A student's own model in `models.load` and in the explorer of the stream, as an object and by its name on the hub."""

import doctest
import json
import shutil

import nbformat
import pytest
import torch
import transformers
from nbclient import NotebookClient

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
