"""A model with its tokenizer: text to token ids, and token ids to labels that a reader can see."""

import copy
from dataclasses import dataclass

import torch
from torch import nn

from helpers.language import say

SHOWN = {" ": "·", "\n": "↵"}
BYTE_MARKS = "₁₂₃₄"  # of a character that takes more than one byte
METASPACE = "▁"  # what SentencePiece writes for a space in its tokens


class Refused(ValueError):
    """Input that cannot be used. Its text is one sentence in the reader's language, all that a notebook shows of it."""

    def _render_traceback_(self):  # IPython's documented way for an error to say how it is shown
        return [str(self)]


@dataclass
class Model:
    """A decoder with its tokenizer. The models of the lessons and of the hub are in float32; one that a student gives
    as an object keeps its format.

    name: "gpt2", "gpt1" or "bundled/ln-pre"; of a student's own model its class, or its repository on the hub.
    decoder: a `helpers.decoder.Decoder`, or a transformers decoder where the model is a student's own.
    tokenizer: None where the tokens are the bytes of the text in UTF-8; else an object with `encode`, text to ids, and
    `decode`, ids to text. Padding and truncation that it may have stored are not used.
    positions: how many tokens it reads at most."""

    name: str
    decoder: nn.Module
    tokenizer: object
    positions: int

    def __post_init__(self):
        if hasattr(self.tokenizer, "no_padding") and hasattr(self.tokenizer, "no_truncation"):
            self.tokenizer = copy.deepcopy(self.tokenizer)  # of the library tokenizers; the student's stays as it is
            self.tokenizer.no_padding()
            self.tokenizer.no_truncation()

    def encode(self, text):
        """Return the token ids of a text, (T,), at most `positions` of them, where the decoder lies.

        Half of a surrogate pair, which has no bytes in UTF-8, is read as "?". Raises Refused for a text without
        tokens, for one that the tokenizer cannot read, and for what is no text."""
        ids = self._all_ids(text)
        if not text or not ids:
            raise Refused(say("load.empty"))
        return torch.tensor(ids[: self.positions], device=next(self.decoder.parameters()).device)

    def notice(self, text):
        """Return what a reader must know about how `encode` reads this text, or "" if there is nothing to say."""
        sentences = []
        if readable(text) != text:
            sentences.append(say("load.half"))
        tokens = len(self._all_ids(text))
        if tokens > self.positions:
            sentences.append(say("load.cut", tokens=tokens, limit=self.positions))
        return " ".join(sentences)

    def _all_ids(self, text):
        if not isinstance(text, str):
            raise Refused(say("load.not_text", kind=type(text).__name__))
        text = readable(text)
        if self.tokenizer is None:
            return list(text.encode())
        try:
            ids = self.tokenizer.encode(text)
        except Exception as error:  # a tokenizer of a student's own may not know every character
            raise Refused(say("load.not_read", problem=f"{type(error).__name__}: {error}")) from error
        ids = getattr(ids, "ids", ids)  # the library tokenizers wraps its list, transformers does not
        return torch.as_tensor(ids).flatten().tolist()

    def pieces(self, ids):
        """Return a label for each of T token ids: a space is ·, a line end ↵, the two bytes of ä are ä₁ and ä₂.

        A SentencePiece token that starts with a space keeps it, also the one that is put before the first word. The
        end of a word, which GPT-1 marks in its tokens, has no label."""
        if self.tokenizer is None:
            labels = _byte_labels(bytes(int(i) for i in ids))
        else:
            labels = [self._decoded(int(i)) for i in ids]
        return ["".join(_visible(character) for character in label) for label in labels]

    def _decoded(self, token_id):
        """Return the text of one token, with the spaces at its start."""
        try:
            text = self.tokenizer.decode([token_id], skip_special_tokens=False)
        except TypeError:  # a plain encode and decode, without special tokens
            text = self.tokenizer.decode([token_id])
        token = self._token(token_id)
        word = token.lstrip(METASPACE)
        spaces = len(token) - len(word)
        if spaces == 0:
            return text
        return " " * spaces + text.lstrip(" ")  # decoding takes away a space at the start of a text

    def _token(self, token_id):
        """Return a token as it is written in the vocabulary, or "" where the tokenizer does not tell."""
        if hasattr(self.tokenizer, "id_to_token"):  # of the library tokenizers
            token = self.tokenizer.id_to_token(token_id)
        elif hasattr(self.tokenizer, "convert_ids_to_tokens"):  # of transformers
            token = self.tokenizer.convert_ids_to_tokens(token_id)
        else:
            token = None
        if isinstance(token, str):
            return token
        return ""


def readable(text):
    """Return a text in which "?" stands for each half of a surrogate pair, which has no bytes in UTF-8."""
    return text.encode("utf8", "replace").decode()


def _byte_labels(data):
    """Return a label for each byte; a byte that belongs to no character gets "?"."""
    labels = []
    for character in data.decode(errors="surrogateescape"):
        size = len(character.encode(errors="surrogateescape"))
        if size == 1:
            labels.append(readable(character))
        else:
            labels += [character + mark for mark in BYTE_MARKS[:size]]
    return labels


def _visible(character):
    """Return what stands for a character in a label: its escape, if it has no form or turns the text around it."""
    if character in SHOWN:
        return SHOWN[character]
    if character.isprintable():
        return character
    return ascii(character)[1:-1]
