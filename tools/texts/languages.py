"""Which of the three languages a prose text is in, and its words and sentences."""

import re

from texts import markdown_parts

FREQUENT = {  # words that the other two languages do not have
    "en": """the of and is are with that this which you what from not it its why how does do when where than then
        there these those they their have has had been being would should could into because between each every both
        before by but to as on if one your can we our same other through without about more most only here look at be
        make take give write read say all any no as after shows were""",
    "de": """der das und ist sind mit dass nicht eine einen einer einem eines ein von zu auf warum wie wo wenn
        wird werden auch aus bei nach nur noch über für im oder aber als sich sie es wir dein deine deinen diese
        dieser dieses diesen durch ohne zwischen vor bis zum zur schon mehr jede jeder jedes jeden beide haben kein
        keine sein ihre sehr dann denn weil wer wo zwei ob die sieh""",
    "sv": """och är att som inte ett det av på varför hur vad när från vid eller då efter över utan mellan varje
        vilken vilket vilka sig ditt dina vi dessa denna detta finns blir också bara mer än samma två till med för
        den någon något inga ingen går gör ger får ska här titta""",
}
WORDS = {language: frozenset(words.split()) for language, words in FREQUENT.items()}
LETTERS = re.compile(r"[A-Za-zÀ-ÖØ-öø-ž]+(?:['’][A-Za-zÀ-ÖØ-öø-ž]+)*")


def words(text):
    """Return the words of a prose text, as written."""
    return LETTERS.findall(text)


def sentences(text):
    """Return the sentences of a prose text; the end of a block is the end of one as well."""
    pieces = re.split(r"\n\s*\n|(?<=[.!?:;])\s+", text)
    return [" ".join(piece.split()) for piece in pieces if piece.strip()]


def votes(text, vocabulary=WORDS):
    """Return how many words of a prose text belong to each language alone."""
    found = [word.lower() for word in words(text)]
    return {language: sum(word in known for word in found) for language, known in vocabulary.items()}


def language_of(text, vocabulary=WORDS):
    """Return the language that a prose text is clearly written in, or None."""
    ranking = sorted(votes(text, vocabulary).items(), key=lambda item: item[1], reverse=True)
    (language, most), (_, second) = ranking[:2]
    if most >= 2 and most > 2 * second:
        return language
    return None


def is_clearly_foreign(text, language):
    """Tell whether a passage has words of other languages and none of this one, such as a paper's title."""
    found = votes(text)
    return found[language] == 0 and sum(found.values()) > 0


def without_titles(source, language):
    """Return the prose of a Markdown text without quoted and emphasised passages in another language."""
    return markdown_parts.without_passages(source, lambda passage: is_clearly_foreign(passage, language))


def foreign_sentences(source, language):
    """Return the sentences of a Markdown text that are clearly in another of the languages."""
    found = sentences(markdown_parts.without_quotes(source))
    return [sentence for sentence in found if language_of(sentence) not in (None, language)]


def has_words(text, least=2):
    """Tell whether a prose text holds words that need a translation: so many at least that are no names."""
    return len([word for word in words(text) if len(word) > 1 and word.islower()]) >= least
