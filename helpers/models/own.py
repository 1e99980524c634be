"""A student's own model: a decoder of transformers as an object, or the name of its repository on the hub."""

from pathlib import Path

import torch
from torch import nn

from helpers.language import say
from helpers.models import hub
from helpers.models.model import Model, Refused
from helpers.trace import UnknownDecoder, most_tokens, token_table, trace

BYTES = 256  # entries of a vocabulary that may do without a tokenizer
LONGEST = 1024  # tokens that are read of a prompt, as in GPT-2 small; longer ones take too long on a laptop
POSITIONS = ("max_position_embeddings", "n_positions", "block_size")  # how configurations call the number of positions
TRIALS = ("Tea", "tea", "a", "1", " ")  # a tokenizer of characters may know few of them
LARGEST = 2e9  # bytes of weights on the hub; in float32 they take up to twice as much memory


def from_object(decoder, tokenizer=None):
    """Return the Model of a decoder, of transformers or of `helpers.decoder` or a module of one's own, with its
    tokenizer.

    Raises Refused for what is no decoder, for a decoder without weights or that the trace does not read, whatever the
    trial run raises, and for a tokenizer that is missing, of another model, or without `encode` and `decode`."""
    parameters = []
    if isinstance(decoder, nn.Module):
        parameters = list(decoder.parameters())
    if not parameters:
        raise Refused(say("load.not_a_decoder", kind=_kind(decoder)))
    if all(parameter.is_meta for parameter in parameters):
        raise Refused(say("load.meta", kind=_kind(decoder)))
    vocabulary = _vocabulary_of(decoder)
    if tokenizer is None:
        if vocabulary is None:
            raise Refused(say("load.not_a_decoder", kind=_kind(decoder)))
        if vocabulary != BYTES:
            raise Refused(say("load.no_tokenizer", kind=_kind(decoder)))
    elif not hasattr(tokenizer, "encode") or not hasattr(tokenizer, "decode"):
        raise Refused(say("load.not_a_tokenizer", kind=_kind(tokenizer)))
    try:
        model = Model(type(decoder).__name__, decoder, tokenizer, _positions_of(decoder))
    except Exception as error:  # a tokenizer of which no copy can be made
        raise Refused(say("load.not_a_tokenizer", kind=_kind(tokenizer))) from error
    _try_tokenizer(model, vocabulary)
    return model


def _settings_of(decoder):
    """Return what describes a decoder's text part, or None: a configuration of transformers or an object like one."""
    config = getattr(decoder, "config", None)
    if hasattr(config, "get_text_config"):
        return config.get_text_config()
    return config


def _vocabulary_of(decoder):
    """Return how many tokens a decoder knows, or None where it cannot be told."""
    size = getattr(_settings_of(decoder), "vocab_size", None)
    if isinstance(size, int):
        return size
    table = token_table(getattr(decoder, "base_model", decoder))
    if table is None:
        return None
    return table.num_embeddings


def _positions_of(decoder):
    """Return how many tokens of a prompt are read."""
    limits = [LONGEST]
    settings = _settings_of(decoder)
    for name in POSITIONS:
        limit = getattr(settings, name, None)
        if isinstance(limit, int) and limit > 0:
            limits.append(limit)
    from_its_table = most_tokens(getattr(decoder, "base_model", decoder))
    if from_its_table is not None:
        limits.append(from_its_table)
    return min(limits)


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


def _try_tokenizer(model, vocabulary):
    """Raise Refused unless the tokenizer makes ids of this vocabulary and labels, and the trace reads the decoder."""
    ids = _trial_ids(model)
    if ids.dtype != torch.int64:
        raise Refused(say("load.not_a_tokenizer", kind=_kind(model.tokenizer)))
    if vocabulary is not None and ids.max() >= vocabulary:
        raise Refused(say("load.other_tokenizer", last=vocabulary - 1))
    try:
        model.pieces(ids)
    except Exception as error:
        raise Refused(say("load.not_a_tokenizer", kind=_kind(model.tokenizer))) from error
    _try_decoder(model.decoder, ids)


def _trial_ids(model):
    """Return the ids of a short text. Raises Refused if the tokenizer reads none of them."""
    for text in TRIALS:
        try:
            return model.encode(text)
        except Exception as error:  # one that knows few characters may read the next
            problem = error
    raise Refused(say("load.not_a_tokenizer", kind=_kind(model.tokenizer))) from problem


def _try_decoder(decoder, ids):
    """Raise Refused unless the trace reads the decoder."""
    try:
        trace(decoder, ids)
    except UnknownDecoder as error:
        if error.part is not None:
            raise Refused(say("load.part", kind=_kind(decoder), part=error.part)) from error
        raise Refused(str(error)) from error
    except ValueError as error:
        raise Refused(str(error)) from error
    except Exception as error:  # whatever a module raises that is built otherwise
        problem = f"{type(error).__name__}: {error}"
        raise Refused(say("load.trial", kind=_kind(decoder), problem=problem)) from error


def _kind(thing):
    """Return what a thing is, in a word or two: a class by its own name, an object by that of its class."""
    if isinstance(thing, type):
        return thing.__name__
    return type(thing).__name__
