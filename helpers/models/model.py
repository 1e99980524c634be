"""A model with its tokenizer: text to token ids, and token ids to labels that a reader can see."""

from dataclasses import dataclass

import torch
from torch import nn

from helpers.language import say

SHOWN = {" ": "·", "\n": "↵"}
BYTE_MARKS = "₁₂₃₄"  # of a character that takes more than one byte


class Refused(ValueError):
    """Input that cannot be used. Its text is one sentence in the reader's language, all that a notebook shows of it."""

    def _render_traceback_(self):  # IPython's documented way for an error to say how it is shown
        return [str(self)]


@dataclass
class Model:
    """A decoder in float32 with its tokenizer.

    name: "gpt2", "gpt1" or "bundled/ln-pre"; of a student's own model its class, or its repository on the hub.
    decoder: a `helpers.decoder.Decoder`, or a transformers decoder where the model is a student's own.
    tokenizer: None where the tokens are the bytes of the text in UTF-8.
    positions: how many tokens it reads at most."""

    name: str
    decoder: nn.Module
    tokenizer: object
    positions: int

    def encode(self, text):
        """Return the token ids of a text, (T,), at most `positions` of them, where the decoder lies.

        Half of a surrogate pair, which has no bytes in UTF-8, is read as "?". Raises Refused for a text without
        tokens and for what is no text."""
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
        ids = self.tokenizer.encode(text)
        return getattr(ids, "ids", ids)  # the library tokenizers wraps its list, transformers does not

    def pieces(self, ids):
        """Return a label for each of T token ids: a space is ·, a line end ↵, the two bytes of ä are ä₁ and ä₂."""
        if self.tokenizer is None:
            labels = _byte_labels(bytes(int(i) for i in ids))
        else:
            labels = [self.tokenizer.decode([int(i)], skip_special_tokens=False) for i in ids]
        return ["".join(_visible(character) for character in label) for label in labels]


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
