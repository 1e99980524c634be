"""Markdown and HTML taken apart: prose, formulas, code spans and links, and which language the prose is in."""

import html
import re
from dataclasses import dataclass, field

LANGUAGE_WORDS = {  # frequent words that the other two languages do not have
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
WORDS = {language: frozenset(words.split()) for language, words in LANGUAGE_WORDS.items()}

COMMENT = re.compile(r"<!--.*?-->", re.S)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.S | re.M)
SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
FORMULA = re.compile(r"(?<!\\)\$\$(.+?)(?<!\\)\$\$|(?<![\\$])\$(?![\s$])(.+?)(?<![\\\s])\$", re.S)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*<?((?:[^()\s<>]|\([^()\s]*\))+)>?(?:\s+\"([^\"]*)\")?\s*\)")
TAG = re.compile(r"<(/?[a-zA-Z][\w-]*)((?:\s[^<>]*)?)/?>")
ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
URL = re.compile(r"<?https?://[^\s<>)]+>?")
QUOTED = re.compile(r"(?<![*\w])([*_])(?=[^\s*_])[^*_\n]+?(?<=\S)\1(?![*\w])|[“„”][^“”„\n]+[“”]|\"[^\"\n]+\"")
LETTERS = re.compile(r"[A-Za-zÀ-ÖØ-öø-ž]+(?:['’][A-Za-zÀ-ÖØ-öø-ž]+)*")


@dataclass
class Parts:
    """What a markdown text consists of."""

    formulas: list = field(default_factory=list)
    spans: list = field(default_factory=list)
    links: list = field(default_factory=list)  # targets, also of images
    images: list = field(default_factory=list)  # (target, alternative text)
    tags: list = field(default_factory=list)
    prose: str = ""  # the words that are left, and the texts of links


def take(pattern, text, collect, keep=lambda match: " "):
    """Cut all matches out of a text; `collect` is called with each, `keep` says what is left in its place."""

    def cut(match):
        collect(match)
        return keep(match)

    return pattern.sub(cut, text)


def parts(source):
    """Take a markdown text apart into Parts."""
    found = Parts()
    text = take(FENCE, source, lambda m: found.spans.append(m[0]))
    text = COMMENT.sub(" ", text)
    text = take(SPAN, text, lambda m: found.spans.append(m[2].strip()), lambda m: " ⌷ ")
    text = take(FORMULA, text, lambda m: found.formulas.append(m[1] or m[2]), lambda m: " ⌷ ")
    while LINK.search(text):  # an image inside a link comes first, then the link

        def link(match):
            found.links.append(match[3])
            if match[1]:
                found.images.append((match[3], match[2]))

        text = take(LINK, text, link, lambda m: f" {m[2]} ")
    text = take(TAG, text, lambda m: tag(m, found))
    text = take(URL, text, lambda m: found.links.append(m[0].strip("<>.,;")))
    found.prose = html.unescape(text)
    return found


def tag(match, found):
    """Note an HTML tag, what it links to and the alternative text of a picture."""
    name, attributes = match[1].lower(), {key.lower(): a or b for key, a, b in ATTRIBUTE.findall(match[2])}
    found.tags.append(name)
    target = attributes.get("href") or attributes.get("src")
    if target:
        found.links.append(target)
    if name == "img":
        found.images.append((target, attributes.get("alt", "")))


def plain(source):
    """Return the prose of a markdown text: without formulas, code, addresses and tags."""
    return parts(source).prose


def numbers(source, comma):
    """Return the numbers of two digits or more in the prose of a text; comma: what stands for one between digits."""
    found = re.findall(r"\d+(?:[.,\u00a0\u202f]\d+)*", plain(source))
    return {re.sub(r"[\u00a0\u202f]", "", number).replace(",", comma) for number in found if len(number) > 1}


def shape(source):
    """Return what a translation keeps of a text's outline: heading levels, list items and table rows."""
    text = FENCE.sub("", source)
    return {
        "headings": re.findall(r"^(#+) ", text, re.M),
        "list items": len(re.findall(r"^\s*(?:[-*+]|\d+[.)]) ", text, re.M)),
        "table rows": len(re.findall(r"^\s*\|", text, re.M)),
        "bold marks **": plain(source).count("**"),
    }


def same_formula(formula):
    """Return a formula in the form in which all languages agree: with a decimal point, without words and spaces."""
    return re.sub(r"\s+", "", re.sub(r"\\text\{[^{}]*\}", r"\\text{}", formula).replace("{,}", "."))


def same_link(target):
    """Return a link's target in the form in which all languages agree: without the language, and without an anchor
    inside the project, which is made of the words of a heading."""
    target = re.sub(r"^(https?:)?//(en|de|sv)\.(m\.)?wikipedia\.org/.*", "wikipedia", target)
    if not re.match(r"\w+:", target):
        target = re.sub(r"(^|/)(en|de|sv)/", r"\1·/", target.split("#")[0])
    return target


def words(text):
    """Return the words of a prose text, as written."""
    return LETTERS.findall(text)


def votes(text, vocabulary=WORDS):
    """Return how many words of a prose text belong to each language alone."""
    found = [word.lower() for word in words(text)]
    return {language: sum(word in known for word in found) for language, known in vocabulary.items()}


def language_of(text, vocabulary=WORDS):
    """Return the language that a prose text is clearly written in, or None."""
    first, second, *_ = sorted(votes(text, vocabulary).items(), key=lambda item: -item[1])
    return first[0] if first[1] >= 2 and first[1] > 2 * second[1] else None


def sentences(text):
    """Return the sentences of a prose text; a heading, a list item and a table cell end one as well."""
    pieces = re.split(r"\n\s*\n|\n\s*(?:[-*+#]+|\d+[.)])\s|\||(?<=[.!?:;])\s+", text)
    return [" ".join(piece.split()) for piece in pieces if piece.strip()]


def without_quotes(source):
    """Return a markdown text without what may be in another language: names of links, emphasised and quoted words."""
    return QUOTED.sub(" ", LINK.sub(" ", source))


def without_titles(source, language):
    """Return a markdown text without quoted and emphasised passages in another language, such as a paper's title."""
    foreign = lambda text: votes(text)[language] == 0 and sum(votes(text).values()) > 0
    return QUOTED.sub(lambda match: " " if foreign(match[0]) else match[0], source)


def foreign_sentences(source, language):
    """Return the sentences of a markdown text that are clearly in another of the languages."""
    return [
        sentence
        for sentence in sentences(plain(without_quotes(source)))
        if language_of(sentence) not in (None, language)
    ]


def has_words(text):
    """Tell whether a prose text holds words that need a translation: two that are no names."""
    return len([word for word in words(text) if len(word) > 1 and word.islower()]) >= 2
