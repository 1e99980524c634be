"""A student's own model: a decoder of transformers as an object, or the name of its repository on the hub."""

from pathlib import Path

import torch
from torch import nn

from helpers.decoder import Decoder
from helpers.language import say
from helpers.models import hub
from helpers.models.model import Model, Refused
from helpers.trace import trace

BYTES = 256  # entries of a vocabulary that may do without a tokenizer
LONGEST = 1024  # tokens that are read of a prompt, as in GPT-2 small; longer ones take too long on a laptop
LARGEST = 2e9  # bytes of weights on the hub; in float32 they take up to twice as much memory


def from_object(decoder, tokenizer=None):
    """Return the Model of a decoder, of transformers or of `helpers.decoder`, with its tokenizer.

    Raises Refused for what is no decoder, for a decoder that the trace does not read, and for a tokenizer that is
    missing or of another model."""
    config = getattr(decoder, "config", None)
    if not isinstance(decoder, nn.Module) or config is None:
        raise Refused(say("load.not_a_decoder", kind=_kind(decoder)))
    if isinstance(decoder, Decoder):
        vocabulary, positions = config.vocab_size, config.positions
    else:
        config = config.get_text_config() if hasattr(config, "get_text_config") else config
        vocabulary = getattr(config, "vocab_size", None)
        positions = getattr(config, "max_position_embeddings", None) or LONGEST
    if not isinstance(vocabulary, int):
        raise Refused(say("load.not_a_decoder", kind=_kind(decoder)))
    if tokenizer is None and vocabulary != BYTES:
        raise Refused(say("load.no_tokenizer", kind=_kind(decoder)))
    if tokenizer is not None and not (hasattr(tokenizer, "encode") and hasattr(tokenizer, "decode")):
        raise Refused(say("load.not_a_tokenizer", kind=_kind(tokenizer)))
    model = Model(type(decoder).__name__, decoder, tokenizer, min(positions, LONGEST))
    _try(model, vocabulary)
    return model


def from_hub(repo, tell):
    """Return the Model of a repository, and tell which commit was loaded.

    Raises Refused for a repository that is none or has no model for the lessons, and what `hub.files` raises."""
    from huggingface_hub.errors import GatedRepoError, RemoteEntryNotFoundError, RepositoryNotFoundError

    try:
        paths = hub.files(repo, "main", repo, tell, largest=LARGEST)
    except GatedRepoError as error:
        raise Refused(say("load.gated", repo=repo)) from error
    except RepositoryNotFoundError as error:
        raise Refused(say("load.no_repository", repo=repo)) from error
    except RemoteEntryNotFoundError as error:
        raise Refused(say("load.no_file", repo=repo, files=", ".join(hub.FILES))) from error
    folder = Path(paths[hub.WEIGHTS]).parent
    if any(Path(path).parent != folder for path in paths.values()):
        raise hub.Damaged(f"{repo} changed during the download")
    model = from_object(*_read(repo, folder))
    model.name = repo
    tell(say("load.revision", repo=repo, commit=folder.name))
    return model


def _read(repo, folder):
    """Return the decoder and the tokenizer that a folder holds; no code that lies there is run."""
    import transformers  # takes seconds, so only here

    logging = transformers.utils.logging
    logging.disable_progress_bar()  # the files are here: there is nothing to wait for
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # what it would report in English is judged below
    options = {"local_files_only": True, "trust_remote_code": False, "use_safetensors": True, "dtype": torch.float32}
    try:
        decoder, report = transformers.AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True, **options)
    except (ValueError, KeyError) as error:  # an architecture that transformers lacks, or that brings its own code
        raise Refused(say("load.not_a_decoder", kind=repo)) from error
    finally:
        logging.set_verbosity(verbosity)
    if report["missing_keys"] or report["mismatched_keys"]:  # transformers fills these with random numbers
        raise Refused(say("load.not_a_decoder", kind=repo))
    return decoder.eval(), hub.read_tokenizer(folder / "tokenizer.json")


def _try(model, vocabulary):
    """Raise Refused unless the tokenizer makes ids of this vocabulary and the trace reads the decoder."""
    try:
        ids = model.encode("Tea")
    except Refused:
        raise
    except Exception as error:  # whatever an object raises that is no tokenizer
        raise Refused(say("load.not_a_tokenizer", kind=_kind(model.tokenizer))) from error
    if ids.dtype != torch.int64 or ids.max() >= vocabulary:
        raise Refused(say("load.other_tokenizer", last=vocabulary - 1))
    try:
        trace(model.decoder, ids)
    except ValueError as error:
        raise Refused(str(error)) from error


def _kind(thing):
    """Return what a thing is, in a word or two: a class by its own name, an object by that of its class."""
    if isinstance(thing, type):
        return thing.__name__
    return type(thing).__name__
