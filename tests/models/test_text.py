"""Text to token ids and back to labels, of whatever a reader types."""

import pytest
import torch
import transformers
from tokenizers import Tokenizer
from tokenizers.decoders import Metaspace as MetaspaceDecoder
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Metaspace

from helpers import language, models


def test_encode_and_pieces_of_bpe(hub, folders):
    model = models.load("gpt2")
    ids = model.encode("The tea was cold")
    assert ids.dtype == torch.long
    assert ids.tolist() == Tokenizer.from_file(str(folders["gpt2"] / "tokenizer.json")).encode("The tea was cold").ids
    assert "".join(model.pieces(ids)) == "The·tea·was·cold"
    assert model.pieces([0]) == ["<|endoftext|>"]
    assert models.load("gpt1").pieces(models.load("gpt1").encode("The TEA")) == ["the", "tea"]


def test_pieces_of_bytes():
    model = models.load("bundled/ln-pre")
    ids = model.encode("a ä\n€")
    assert ids.tolist() == list("a ä\n€".encode())
    assert model.pieces(ids) == ["a", "·", "ä₁", "ä₂", "↵", "€₁", "€₂", "€₃"]
    assert model.pieces("😀".encode()[:2] + b"a\xff") == ["?", "?", "a", "?"]  # cut within a character


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_half_of_a_surrogate_pair_is_read_as_a_question_mark_and_the_reader_is_told(lang):
    language.use(lang)
    model = models.load("bundled/ln-pre")
    assert model.encode("a\ud800").tolist() == [ord("a"), ord("?")]
    assert model.notice("a\ud800") == language.say("load.half")
    assert model.notice("a") == ""


@pytest.mark.parametrize("lang", language.LANGUAGES)
@pytest.mark.parametrize("name", ["gpt2", "bundled/ln-pre"])
def test_empty_and_long_text(name, lang, hub):
    language.use(lang)
    model = models.load(name)
    with pytest.raises(ValueError, match=language.say("load.empty")):
        model.encode("")
    text = "x, " * 500
    assert len(model.encode(text)) == model.positions == model.decoder.config.positions
    tokens = 1500 if model.tokenizer is None else len(model.tokenizer.encode(text).ids)
    assert str(model.positions) in model.notice(text) and str(tokens) in model.notice(text)
    assert model.notice("short") == ""


def test_text_without_tokens(hub):
    with pytest.raises(ValueError, match=language.say("load.empty")):
        models.load("gpt1").encode(" \n ")


@pytest.mark.parametrize("text", [None, 3, ["Tea"], b"Tea"])
def test_what_is_no_text_gets_a_sentence(text):
    with pytest.raises(ValueError, match=type(text).__name__):
        models.load("bundled/ln-pre").encode(text)


def metaspace_tokenizer():
    """Return a tokenizer as SentencePiece makes them: a space is ▁ at the start of a token."""
    words = ["<unk>", "▁", "▁The", "▁tea", "s", "▁▁", "<0xE2>"]
    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(words)}, "<unk>"))
    tokenizer.pre_tokenizer = Metaspace()
    tokenizer.decoder = MetaspaceDecoder()
    return tokenizer


@pytest.mark.parametrize("wrap", [None, transformers.PreTrainedTokenizerFast])
def test_pieces_of_sentencepiece_keep_their_spaces(wrap):
    """The labels of "The tea" were "The" and "tea"."""
    tokenizer = metaspace_tokenizer()
    if wrap is not None:
        tokenizer = wrap(tokenizer_object=tokenizer, unk_token="<unk>")
    settings = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.LlamaConfig(vocab_size=7, **settings)
    model = models.Model("own", transformers.LlamaForCausalLM(config), tokenizer, 20)
    assert model.pieces([2, 3, 4, 1, 5]) == ["·The", "·tea", "s", "·", "··"]
