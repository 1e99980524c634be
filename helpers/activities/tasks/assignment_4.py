"""Assignment 4, the residual stream: what its checks know. How to add a mistake: see the head of this package."""

import torch
import torch.nn.functional as F

from helpers.activities.tasks import Task


def norm_with(gamma):
    """Return a LayerNorm with this gain, and a bias smaller by 1, a function of x."""

    def norm(x):
        return F.layer_norm(x, gamma.shape, gamma, gamma - 1, 0.1)

    return norm


def drawn_stream(randn, points, *shape):
    """Return points of a stream, tensors of this shape, each larger than the one before."""
    return [(number + 1) * randn(*shape) + 1 for number in range(points)]


# 1 · The stream at every point


def stream_lengths_cases(randn):
    def case(inner_points, *shape):
        """Return what a model with as many blocks would return, its last block, which is not recorded, included."""
        d = shape[-1]
        weight = randn(d, d)
        final_norm = norm_with(randn(d) + 2)

        def last_block(x):
            return x + torch.tanh(x @ weight).cumsum(-2)

        stream = drawn_stream(randn, inner_points, *shape)
        return {"hidden_states": (*stream, final_norm(last_block(stream[-1]))), "last_block": last_block}

    return [case(3, 2, 3, 6), case(2, 4, 2, 7)]


def stream_lengths(hidden_states, last_block):
    return [x.norm(dim=-1) for x in points(hidden_states, last_block)]


def points(hidden_states, last_block):
    """Return all points of the stream, the one after the last block included."""
    return [*hidden_states[:-1], last_block(hidden_states[-2])]


STREAM_LENGTHS = Task("stream-lengths", stream_lengths, stream_lengths_cases)


@STREAM_LENGTHS.mistake(
    "final-norm-as-last-block",
    en=(
        "Your last length belongs to the last entry of hidden_states. Is that entry a point of the stream, or has"
        " something happened to it on the way?"
    ),
    de=(
        "Deine letzte Länge gehört zum letzten Eintrag von hidden_states. Ist dieser Eintrag ein Punkt des "
        "Stroms, oder ist unterwegs noch etwas mit ihm geschehen?"
    ),
    sv=(
        "Din sista längd hör till den sista posten i hidden_states. Är den posten en punkt längs strömmen, eller "
        "har något hänt med den på vägen?"
    ),
)
def stream_lengths_final_norm_as_last_block(hidden_states, last_block):
    return [x.norm(dim=-1) for x in hidden_states]


@STREAM_LENGTHS.mistake(
    "last-block-missing",
    en=(
        "You return one length per entry but the last, and you leave out that one for a good reason. Which point "
        "of the stream is missing now?"
    ),
    de="Den letzten Eintrag lässt du aus gutem Grund weg. Aber welcher Punkt des Stroms fehlt dir damit?",
    sv="Du utelämnar den sista posten, och det med rätta. Men vilken punkt längs strömmen saknas nu?",
)
def stream_lengths_last_block_missing(hidden_states, last_block):
    return [x.norm(dim=-1) for x in hidden_states[:-1]]


@STREAM_LENGTHS.mistake(
    "embedding-missing",
    en="Your lengths begin after block 1. Where does the stream begin?",
    de="Deine Längen beginnen nach Block 1. Wo beginnt der Strom?",
    sv="Dina längder börjar efter block 1. Var börjar strömmen?",
)
def stream_lengths_embedding_missing(hidden_states, last_block):
    return [x.norm(dim=-1) for x in (*hidden_states[1:-1], last_block(hidden_states[-2]))]


@STREAM_LENGTHS.mistake(
    "one-index-too-far",
    en=(
        "You took the entries from index 1 on as the blocks’ outputs. Count the entries and the blocks again: "
        "what stands at index 0, and what at the last index?"
    ),
    de=(
        "Du nimmst die Einträge ab Index 1 als Ausgaben der Blöcke. Zähle Einträge und Blöcke noch einmal: Was "
        "steht bei Index 0, was beim letzten Index?"
    ),
    sv=(
        "Du tar posterna från index 1 som blockens utdata. Räkna posterna och blocken en gång till: vad finns vid"
        " index 0 och vad vid det sista indexet?"
    ),
)
def stream_lengths_one_index_too_far(hidden_states, last_block):
    return [x.norm(dim=-1) for x in hidden_states[1:]]


@STREAM_LENGTHS.mistake(
    "embedding-missing-and-final-norm",
    en=(
        "The number of lengths is right, but two of them are not: one point of the stream is missing, and one "
        "length is of something that is no point of it. Name what each of your lengths stands for."
    ),
    de=(
        "Die Anzahl der Längen stimmt, aber ein Punkt des Stroms fehlt, und eine Länge gehört zu etwas, das gar "
        "kein Punkt des Stroms ist. Benenne für jede deiner Längen, wofür sie steht."
    ),
    sv=(
        "Antalet längder stämmer, men en punkt längs strömmen saknas, och en längd hör till något som inte är en "
        "punkt längs den. Säg för var och en av längderna vad den står för."
    ),
)
def stream_lengths_embedding_missing_and_final_norm(hidden_states, last_block):
    return [x.norm(dim=-1) for x in (*hidden_states[1:], last_block(hidden_states[-2]))]


@STREAM_LENGTHS.mistake(
    "one-too-many",
    en="You return one length more than the stream has points. Which of your entries is no point of the stream?",
    de="Du gibst eine Länge mehr zurück, als der Strom Punkte hat. Welcher deiner Einträge ist kein Punkt des Stroms?",
    sv="Du returnerar en längd mer än strömmen har punkter. Vilken av dina poster är inte en punkt längs strömmen?",
)
def stream_lengths_one_too_many(hidden_states, last_block):
    return [x.norm(dim=-1) for x in (*hidden_states, last_block(hidden_states[-2]))]


@STREAM_LENGTHS.mistake(
    "block-after-final-norm",
    en=(
        "You gave the last block an input that it never sees in the model. What does the last block read when the"
        " model runs?"
    ),
    de=(
        "Du gibst dem letzten Block eine Eingabe, die er im Modell nie zu sehen bekommt. Was liest der letzte "
        "Block, wenn das Modell läuft?"
    ),
    sv="Du ger det sista blocket indata som det aldrig får i modellen. Vad läser det sista blocket när modellen körs?",
)
def stream_lengths_block_after_final_norm(hidden_states, last_block):
    return [x.norm(dim=-1) for x in (*hidden_states[:-1], last_block(hidden_states[-1]))]


@STREAM_LENGTHS.mistake(
    "residual-twice",
    en=(
        "At the last point the stream before the block is counted twice. Does a block return only what it writes,"
        " or the stream after it?"
    ),
    de=(
        "Am letzten Punkt zählst du den Strom vor dem Block doppelt. Gibt ein Block nur zurück, was er schreibt, "
        "oder den ganzen Strom danach?"
    ),
    sv=(
        "I den sista punkten räknas strömmen före blocket två gånger. Returnerar ett block bara det som det "
        "skriver eller strömmen efter blocket?"
    ),
)
def stream_lengths_residual_twice(hidden_states, last_block):
    return [x.norm(dim=-1) for x in (*hidden_states[:-1], hidden_states[-2] + last_block(hidden_states[-2]))]


@STREAM_LENGTHS.mistake(
    "last-write",
    en="Your last length is of what the last block adds, not of the stream after it.",
    de="Deine letzte Länge misst, was der letzte Block addiert, und nicht den Strom danach.",
    sv="Din sista längd är längden av det som det sista blocket adderar, inte av strömmen efter det.",
)
def stream_lengths_last_write(hidden_states, last_block):
    return [x.norm(dim=-1) for x in (*hidden_states[:-1], last_block(hidden_states[-2]) - hidden_states[-2])]


@STREAM_LENGTHS.mistake(
    "root-mean-square",
    en=(
        "Your numbers are too small by the same factor everywhere. You computed a root mean square; how does it "
        "differ from the length (L2 norm)?"
    ),
    de=(
        "Deine Zahlen sind überall um denselben Faktor zu klein. Du hast das quadratische Mittel berechnet. Worin"
        " unterscheidet es sich von der Länge (L2-Norm)?"
    ),
    sv=(
        "Dina tal är för små, överallt med samma faktor. Du har beräknat det kvadratiska medelvärdet; hur skiljer"
        " det sig från längden (L2-normen)?"
    ),
)
def stream_lengths_root_mean_square(hidden_states, last_block):
    return [x.square().mean(-1).sqrt() for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake(
    "squared",
    en="Your numbers are the squares of the lengths. What is still to do after summing the squares?",
    de="Deine Zahlen sind die Quadrate der Längen. Was kommt nach dem Summieren der Quadrate noch?",
    sv="Dina tal är längderna i kvadrat. Vad återstår att göra när kvadraterna har summerats?",
)
def stream_lengths_squared(hidden_states, last_block):
    return [x.square().sum(-1) for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake(
    "root-of-the-root",
    en="Your numbers are the roots of lengths. A length (L2 norm) holds one root; how many do you take?",
    de="Deine Zahlen sind die Wurzeln aus Längen. In einer Länge (L2-Norm) steckt eine Wurzel; wie viele ziehst du?",
    sv="Dina tal är rötterna ur längder. I en längd (L2-norm) finns en rot; hur många drar du?",
)
def stream_lengths_root_of_the_root(hidden_states, last_block):
    return [x.norm(dim=-1).sqrt() for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake(
    "absolute-sum",
    en="You have added up the absolute features (L1 norm). The task asks for the L2 norm.",
    de="Du hast die Beträge der Features addiert (L1-Norm). Gefragt ist die L2-Norm.",
    sv="Du har summerat absolutbeloppen av features (L1-norm). Uppgiften frågar efter L2-normen.",
)
def stream_lengths_absolute_sum(hidden_states, last_block):
    return [x.abs().sum(-1) for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake(
    "over-tokens",
    en=(
        "You get one number per feature: the sum runs over the tokens. Over which axis does the length of one "
        "token’s vector run?"
    ),
    de=(
        "Du erhältst eine Zahl je Feature: Deine Summe läuft über die Token. Auf welcher Achse liegen die Zahlen,"
        " die den Vektor eines Tokens bilden?"
    ),
    sv="Du får ett tal per feature: summan går över token. Längs vilken axel räknas längden av en tokens vektor?",
)
def stream_lengths_over_tokens(hidden_states, last_block):
    return [x.norm(dim=-2) for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake(
    "whole-tensor",
    en="You get a single number per point: tokens and examples are thrown together. Whose length is asked for?",
    de=(
        "Du erhältst nur eine Zahl je Punkt: Alle Token und Beispiele sind darin zusammengefasst. Wessen Länge "
        "ist gefragt?"
    ),
    sv="Du får ett enda tal per punkt: token och exempel har slagits ihop. Vems längd är det som söks?",
)
def stream_lengths_whole_tensor(hidden_states, last_block):
    return [x.norm() for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake(
    "last-token-only",
    en=(
        "You return only the last token of each example. Position 0 behaves differently, so later tasks need all "
        "tokens."
    ),
    de=(
        "Du gibst nur das letzte Token jedes Beispiels zurück. Position 0 verhält sich anders, darum brauchen die"
        " nächsten Aufgaben alle Token."
    ),
    sv=(
        "Du returnerar bara den sista tokenen i varje exempel. Position 0 beter sig annorlunda, så de följande "
        "uppgifterna behöver alla token."
    ),
)
def stream_lengths_last_token_only(hidden_states, last_block):
    return [x[:, -1].norm(dim=-1) for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake(
    "first-example-only",
    en="You return the lengths of the first example only. The batch may hold several.",
    de="Du gibst nur die Längen des ersten Beispiels zurück. Der Batch kann mehrere enthalten.",
    sv="Du returnerar bara längderna för det första exemplet. Batchen kan innehålla flera.",
)
def stream_lengths_first_example_only(hidden_states, last_block):
    return [x[0].norm(dim=-1) for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake(
    "points-on-the-last-axis",
    en=(
        "The numbers are right, but your points lie along the last axis. Which axis comes first in the shape that"
        " is asked for?"
    ),
    de=(
        "Die Zahlen stimmen, aber deine Punkte liegen entlang der letzten Achse. Welche Achse steht in der "
        "verlangten Form vorn?"
    ),
    sv=(
        "Talen stämmer, men dina punkter ligger längs den sista axeln. Vilken axel kommer först i den form som "
        "efterfrågas?"
    ),
)
def stream_lengths_points_on_the_last_axis(hidden_states, last_block):
    return torch.stack([x.norm(dim=-1) for x in points(hidden_states, last_block)], -1)


@STREAM_LENGTHS.mistake(
    "axis-kept",
    en="The numbers are right, but each stands on an axis of its own at the end. The shape asked for is (B, T).",
    de="Die Zahlen stimmen, aber jede steht am Ende auf einer eigenen Achse. Verlangt ist die Form (B, T).",
    sv="Talen är rätt, men vart och ett står på en egen axel i slutet. Formen ska vara (B, T).",
)
def stream_lengths_axis_kept(hidden_states, last_block):
    return [x.norm(dim=-1, keepdim=True) for x in points(hidden_states, last_block)]


@STREAM_LENGTHS.mistake(
    "vectors",
    en="These are the right points of the stream, as vectors. The task asks for their lengths.",
    de="Das sind die richtigen Punkte des Stroms, als Vektoren. Gefragt ist nach ihren Längen.",
    sv="Det här är rätt punkter i strömmen, som vektorer. Uppgiften frågar efter deras längder.",
)
def stream_lengths_vectors(hidden_states, last_block):
    return [*points(hidden_states, last_block)]


# 2 · What would the model say after block i?


def logit_lens_cases(randn):
    def case(inner_points, vocabulary, *shape):
        final_norm = norm_with(randn(shape[-1]) + 2)
        stream = drawn_stream(randn, inner_points, *shape)
        last = final_norm(3 * randn(*shape))
        return {"hidden_states": (*stream, last), "final_norm": final_norm, "output": randn(vocabulary, shape[-1])}

    return [case(3, 7, 2, 3, 6), case(2, 9, 4, 2, 7)]


def logit_lens(hidden_states, final_norm, output):
    return [*(final_norm(x) @ output.T for x in hidden_states[:-1]), hidden_states[-1] @ output.T]


def final_norm_on_every_entry(hidden_states, final_norm, output):
    return [final_norm(x) @ output.T for x in hidden_states]


LOGIT_LENS = Task("logit-lens", logit_lens, logit_lens_cases)


@LOGIT_LENS.mistake(
    "final-norm-twice",
    en=(
        "All points but the last are right. What has already happened to the last entry of hidden_states before "
        "you get it?"
    ),
    de=(
        "Alle Punkte bis auf den letzten stimmen. Was ist mit dem letzten Eintrag von hidden_states schon "
        "geschehen, bevor du ihn bekommst?"
    ),
    sv="Alla punkter utom den sista stämmer. Vad har redan hänt med den sista posten i hidden_states innan du får den?",
)
def logit_lens_final_norm_twice(hidden_states, final_norm, output):
    return final_norm_on_every_entry(hidden_states, final_norm, output)


@LOGIT_LENS.mistake(
    "no-final-norm",
    en=(
        "Only your last point is right. The output matrix was trained on vectors of one scale; what stands "
        "between the stream and the output matrix?"
    ),
    de=(
        "Nur dein letzter Punkt stimmt. Die Ausgabematrix wurde mit Vektoren einer bestimmten Größenordnung "
        "trainiert. Was steht zwischen dem Strom und der Ausgabematrix?"
    ),
    sv=(
        "Bara din sista punkt stämmer. Utdatamatrisen har tränats på vektorer i en viss skala; vad finns mellan "
        "strömmen och utdatamatrisen?"
    ),
)
def logit_lens_no_final_norm(hidden_states, final_norm, output):
    return [x @ output.T for x in hidden_states]


@LOGIT_LENS.mistake(
    "embedding-not-normalised",
    en=(
        "All points but the first are right. The embedding is a point of the stream like the others: what stands "
        "between it and the output matrix?"
    ),
    de=(
        "Bis auf den ersten stimmen alle Punkte. Das Embedding ist ein Punkt des Stroms wie die anderen: Was "
        "steht zwischen ihm und der Ausgabematrix?"
    ),
    sv=(
        "Alla punkter utom den första är rätt. Inbäddningen är en punkt i strömmen som de andra: vad finns mellan"
        " den och utdatamatrisen?"
    ),
)
def logit_lens_embedding_not_normalised(hidden_states, final_norm, output):
    return (
        [hidden_states[0] @ output.T]
        + [final_norm(x) @ output.T for x in hidden_states[1:-1]]
        + [hidden_states[-1] @ output.T]
    )


@LOGIT_LENS.mistake(
    "final-norm-only-at-the-end",
    en=(
        "You normalise only the last entry. Go through the entries one by one and ask of each: has the final norm"
        " already seen it?"
    ),
    de=(
        "Du normalisierst nur den letzten Eintrag. Geh die Einträge einzeln durch und frage bei jedem: Hat die "
        "abschließende Norm ihn schon gesehen?"
    ),
    sv=(
        "Du normaliserar bara den sista posten. Gå igenom posterna en och en och fråga för varje: har den "
        "slutliga normen redan sett den?"
    ),
)
def logit_lens_final_norm_only_at_the_end(hidden_states, final_norm, output):
    return [x @ output.T for x in hidden_states[:-1]] + [final_norm(hidden_states[-1]) @ output.T]


@LOGIT_LENS.mistake(
    "last-entry-missing",
    en="Your list stops one entry early. What does the whole model predict, and from which entry?",
    de="Deine Liste endet einen Eintrag zu früh. Was sagt das ganze Modell vorher, und aus welchem Eintrag?",
    sv="Din lista slutar en post för tidigt. Vad förutsäger hela modellen, och utifrån vilken post?",
)
def logit_lens_last_entry_missing(hidden_states, final_norm, output):
    return [final_norm(x) @ output.T for x in hidden_states[:-1]]


@LOGIT_LENS.mistake(
    "embedding-missing",
    en="Your first point is the one after block 1. Is there nothing to read before the first block?",
    de="Dein erster Punkt ist der nach Block 1. Gibt es vor dem ersten Block nichts zu lesen?",
    sv="Din första punkt är den efter block 1. Finns det inget att läsa före det första blocket?",
)
def logit_lens_embedding_missing(hidden_states, final_norm, output):
    return [final_norm(x) @ output.T for x in hidden_states[1:-1]] + [hidden_states[-1] @ output.T]


@LOGIT_LENS.mistake(
    "embedding-missing-and-twice",
    en="Your list starts one entry late, and its last entry went through something that it had been through before.",
    de="Deine Liste beginnt einen Eintrag zu spät, und ihr letzter Eintrag hat etwas ein weiteres Mal durchlaufen.",
    sv="Din lista börjar en post för sent, och den sista posten har gått igenom något som den redan hade gått igenom.",
)
def logit_lens_embedding_missing_and_twice(hidden_states, final_norm, output):
    return [final_norm(x) @ output.T for x in hidden_states[1:]]


@LOGIT_LENS.mistake(
    "probabilities",
    en="Each row of your result adds up to 1: these are probabilities. What does the output matrix return?",
    de=(
        "Jede Zeile deines Ergebnisses summiert sich zu 1: Das sind Wahrscheinlichkeiten. Was liefert die "
        "Ausgabematrix selbst?"
    ),
    sv="Varje rad i ditt resultat har summan 1: det är sannolikheter. Vad ger utdatamatrisen själv?",
)
def logit_lens_probabilities(hidden_states, final_norm, output):
    return [y.softmax(-1) for y in logit_lens(hidden_states, final_norm, output)]


@LOGIT_LENS.mistake("probabilities")
def logit_lens_probabilities_with_the_final_norm_twice(hidden_states, final_norm, output):
    return [y.softmax(-1) for y in final_norm_on_every_entry(hidden_states, final_norm, output)]


@LOGIT_LENS.mistake(
    "log-probabilities",
    en=(
        "No number of your result is above 0: these are logarithms of probabilities. What does the output matrix "
        "return?"
    ),
    de=(
        "Keine Zahl deines Ergebnisses liegt über 0: Das sind Logarithmen von Wahrscheinlichkeiten. Was liefert "
        "die Ausgabematrix selbst?"
    ),
    sv="Inget tal i ditt resultat är större än 0: det är logaritmer av sannolikheter. Vad ger utdatamatrisen själv?",
)
def logit_lens_log_probabilities(hidden_states, final_norm, output):
    return [y.log_softmax(-1) for y in logit_lens(hidden_states, final_norm, output)]


@LOGIT_LENS.mistake("log-probabilities")
def logit_lens_log_probabilities_with_the_final_norm_twice(hidden_states, final_norm, output):
    return [y.log_softmax(-1) for y in final_norm_on_every_entry(hidden_states, final_norm, output)]


@LOGIT_LENS.mistake(
    "token-ids",
    en=(
        "You return the likeliest tokens. Here the numbers from which they are chosen are wanted: in the choice a"
        " mistake is easily hidden."
    ),
    de=(
        "Du gibst die wahrscheinlichsten Token zurück. Gefragt sind die Zahlen, aus denen sie gewählt werden: In "
        "der Auswahl bleibt ein Fehler leicht verborgen."
    ),
    sv=(
        "Du returnerar de mest sannolika token. Här efterfrågas talen som de väljs efter: ett fel syns ofta inte "
        "i själva valet."
    ),
)
def logit_lens_token_ids(hidden_states, final_norm, output):
    return [y.argmax(-1) for y in logit_lens(hidden_states, final_norm, output)]


@LOGIT_LENS.mistake("token-ids")
def logit_lens_token_ids_with_the_final_norm_twice(hidden_states, final_norm, output):
    return [y.argmax(-1) for y in final_norm_on_every_entry(hidden_states, final_norm, output)]


@LOGIT_LENS.mistake(
    "last-token-only",
    en="You return only the last token of each example; look at the shape that is asked for.",
    de="Du gibst nur das letzte Token jedes Beispiels zurück. Sieh dir die verlangte Form an.",
    sv="Du returnerar bara den sista tokenen i varje exempel. Titta på den form som efterfrågas.",
)
def logit_lens_last_token_only(hidden_states, final_norm, output):
    return [y[:, -1] for y in logit_lens(hidden_states, final_norm, output)]


@LOGIT_LENS.mistake(
    "final-norm-forgets-gain",
    en=(
        "You standardise, but your norm is not the model’s: its output has mean 0 and variance 1 in every token. "
        "What did the model’s norm learn?"
    ),
    de=(
        "Du standardisierst, aber nicht mit der Norm des Modells: Bei dir hat jedes Token den Mittelwert 0 und "
        "die Varianz 1. Was hat die Norm des Modells gelernt?"
    ),
    sv=(
        "Du standardiserar, men inte med modellens norm: hos dig har varje token medelvärdet 0 och variansen 1. "
        "Vad har modellens norm lärt sig?"
    ),
)
def logit_lens_final_norm_forgets_gain(hidden_states, final_norm, output):
    return [F.layer_norm(x, x.shape[-1:], eps=0.1) @ output.T for x in hidden_states[:-1]] + [
        hidden_states[-1] @ output.T
    ]


# 3 · One factor for the growth, and position 0


def growth_factor_cases(randn):
    """The tokens grow at different rates; in the second case the stream is longest before its end."""
    growing = torch.linspace(1, 3, 5)[:, None] ** torch.linspace(3, 1, 3)
    peaked = torch.tensor([1.0, 2.0, 9.0, 3.0])[:, None] ** torch.linspace(3, 1, 6)
    return [{"lengths": (randn(5, 3).abs() + 1) * growing}, {"lengths": (randn(4, 6).abs() + 1) * peaked}]


def growth_factor(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / blocks))


def first_and_later(lengths):
    """Return the length at position 0 and the mean length at the later ones for every point, of shape (N + 1, 2)."""
    return torch.stack((lengths[:, 0], lengths[:, 1:].mean(1)), 1)


GROWTH_FACTOR = Task("growth-factor", growth_factor, growth_factor_cases)


@GROWTH_FACTOR.mistake(
    "fence-post",
    en="Your root counts the points of the stream. How many blocks lie between them?",
    de="Deine Wurzel zählt die Punkte des Stroms. Wie viele Blöcke liegen dazwischen?",
    sv="Din rot räknar punkterna längs strömmen. Hur många block ligger mellan dem?",
)
def growth_factor_fence_post(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / (blocks + 1)))


@GROWTH_FACTOR.mistake(
    "twelve-blocks",
    en="You always take the twelfth root. How many blocks belong to the lengths that your function is given?",
    de="Du ziehst immer die zwölfte Wurzel. Wie viele Blöcke gehören zu den Längen, die deine Funktion bekommt?",
    sv="Du drar alltid tolfte roten. Hur många block hör till längderna som din funktion får?",
)
def growth_factor_twelve_blocks(lengths):
    means = first_and_later(lengths)
    return list((means[-1] / means[0]) ** (1 / 12))


@GROWTH_FACTOR.mistake(
    "one-block-short",
    en="You take the growth over fewer blocks than your root counts. From which point to which do your lengths run?",
    de=(
        "Du nimmst das Wachstum über weniger Blöcke, als deine Wurzel zählt. Von welchem Punkt bis zu welchem "
        "reichen deine Längen?"
    ),
    sv="Du tar tillväxten över färre block än din rot räknar med. Från vilken punkt till vilken går dina längder?",
)
def growth_factor_one_block_short(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-2] / means[0]) ** (1 / blocks))


@GROWTH_FACTOR.mistake(
    "longest-for-last",
    en="You divide the greatest length by the first. Is the stream longest after the last block in every model?",
    de="Du teilst die größte Länge durch die erste. Ist der Strom in jedem Modell nach dem letzten Block am längsten?",
    sv="Du delar den största längden med den första. Är strömmen längst efter det sista blocket i alla modeller?",
)
def growth_factor_longest_for_last(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means.amax(0) / means[0]) ** (1 / blocks))


@GROWTH_FACTOR.mistake(
    "last-block-left-out",
    en=(
        "Your factor leaves out the last block. These lengths are already of the stream itself: is there a reason"
        " to drop the last row?"
    ),
    de=(
        "Dein Faktor lässt den letzten Block weg. Diese Längen gehören schon alle zum Strom selbst. Gibt es einen"
        " Grund, die letzte Zeile fallen zu lassen?"
    ),
    sv=(
        "Din faktor utelämnar det sista blocket. De här längderna gäller redan själva strömmen: finns det någon "
        "anledning att stryka den sista raden?"
    ),
)
def growth_factor_last_block_left_out(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-2] / means[0]) ** (1 / (blocks - 1)))


@GROWTH_FACTOR.mistake(
    "first-block-left-out",
    en="Your factor begins after block 1, and so misses a jump. What is the length before the first block?",
    de=(
        "Dein Faktor beginnt erst nach Block 1 und verpasst damit einen Sprung. Wie lang ist der Strom vor dem "
        "ersten Block?"
    ),
    sv="Din faktor börjar efter block 1 och missar därför ett hopp. Hur lång är strömmen före det första blocket?",
)
def growth_factor_first_block_left_out(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-1] / means[1]) ** (1 / (blocks - 1)))


@GROWTH_FACTOR.mistake(
    "no-root",
    en=(
        "These are the factors over all blocks together. What is the factor of a single block, if all blocks had "
        "the same?"
    ),
    de=(
        "Das sind die Faktoren über alle Blöcke zusammen. Welchen Faktor hätte ein einzelner Block, wenn alle "
        "denselben hätten?"
    ),
    sv="Det här är faktorerna för alla block tillsammans. Vilken faktor har ett enda block om alla block har samma?",
)
def growth_factor_no_root(lengths):
    means = first_and_later(lengths)
    return list(means[-1] / means[0])


@GROWTH_FACTOR.mistake(
    "divided-by-blocks",
    en="Put your factor to the test: multiply the first length by it once per block. Do you arrive at the last length?",
    de=(
        "Mach die Probe: Multipliziere die erste Länge für jeden Block einmal mit deinem Faktor. Kommst du bei "
        "der letzten Länge an?"
    ),
    sv=(
        "Pröva din faktor: multiplicera den första längden med den en gång per block. Kommer du fram till den "
        "sista längden?"
    ),
)
def growth_factor_divided_by_blocks(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list(means[-1] / means[0] / blocks)


@GROWTH_FACTOR.mistake(
    "arithmetic-mean",
    en=(
        "You average the factors of the blocks by adding them, and get too much. How do factors of consecutive "
        "blocks combine?"
    ),
    de=(
        "Du mittelst die Faktoren der Blöcke, indem du sie addierst, und erhältst zu viel. Wie wirken die "
        "Faktoren aufeinanderfolgender Blöcke zusammen?"
    ),
    sv=(
        "Du tar medelvärdet av blockens faktorer genom att addera dem och får för mycket. Hur samverkar "
        "faktorerna för block som följer på varandra?"
    ),
)
def growth_factor_arithmetic_mean(lengths):
    means = first_and_later(lengths)
    return list((means[1:] / means[:-1]).mean(0))


@GROWTH_FACTOR.mistake(
    "increments",
    en="You return by how much a block lengthens the stream, which is a length. A factor has no unit.",
    de="Du gibst zurück, um wie viel ein Block den Strom verlängert. Das ist eine Länge; ein Faktor hat keine Einheit.",
    sv="Du returnerar hur mycket ett block förlänger strömmen, och det är en längd. En faktor har ingen enhet.",
)
def growth_factor_increments(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-1] - means[0]) / blocks)


@GROWTH_FACTOR.mistake(
    "inverse",
    en="Your factor lies below 1 for a stream that grows. What is divided by what?",
    de="Dein Faktor liegt bei einem wachsenden Strom unter 1. Was wird durch was geteilt?",
    sv="Din faktor är mindre än 1 för en ström som växer. Vad divideras med vad?",
)
def growth_factor_inverse(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[0] / means[-1]) ** (1 / blocks))


@GROWTH_FACTOR.mistake(
    "logarithm",
    en="You averaged the logarithms. What is the last step back to a factor?",
    de="Du hast die Logarithmen gemittelt. Welcher Schritt führt zurück zu einem Faktor?",
    sv="Du har tagit medelvärdet av logaritmerna. Vilket steg leder tillbaka till en faktor?",
)
def growth_factor_logarithm(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]).log() / blocks)


@GROWTH_FACTOR.mistake(
    "growth-without-the-1",
    en="You have subtracted 1, and so return by what part the stream grows. The task asks for the factor itself.",
    de="Du hast 1 abgezogen und gibst damit an, um welchen Anteil der Strom wächst. Gefragt ist der Faktor selbst.",
    sv=(
        "Du har dragit ifrån 1 och anger alltså hur stor andel strömmen växer med. Uppgiften frågar efter själva "
        "faktorn."
    ),
)
def growth_factor_growth_without_the_1(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / blocks) - 1)


@GROWTH_FACTOR.mistake(
    "position-0-among-the-later",
    en="Your second number changes with position 0. Which tokens are the later ones?",
    de="Deine zweite Zahl hängt auch von Position 0 ab. Welche Token sind die späteren?",
    sv="Ditt andra tal påverkas av position 0. Vilka token är de senare?",
)
def growth_factor_position_0_among_the_later(lengths):
    means = torch.stack((lengths[:, 0], lengths.mean(1)), 1)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / blocks))


@GROWTH_FACTOR.mistake(
    "last-token-as-the-later",
    en="Your second number depends on one token only. How many later tokens are there?",
    de="Deine zweite Zahl hängt nur von einem Token ab. Wie viele spätere Token gibt es?",
    sv="Ditt andra tal beror på en enda token. Hur många senare token finns det?",
)
def growth_factor_last_token_as_the_later(lengths):
    means = torch.stack((lengths[:, 0], lengths[:, -1]), 1)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / blocks))


@GROWTH_FACTOR.mistake("last-token-as-the-later")
def growth_factor_last_token_as_the_later_position_1(lengths):
    means = torch.stack((lengths[:, 0], lengths[:, 1]), 1)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / blocks))


@GROWTH_FACTOR.mistake(
    "mean-of-factors",
    en="You compute a factor for each later token and then average. Read again what is averaged first.",
    de=(
        "Du berechnest für jedes spätere Token einen Faktor und mittelst danach. Lies noch einmal nach, was "
        "zuerst gemittelt wird."
    ),
    sv=(
        "Du beräknar en faktor för varje senare token och tar sedan medelvärdet. Läs en gång till: vad ska du ta "
        "medelvärdet av först?"
    ),
)
def growth_factor_mean_of_factors(lengths):
    means = (lengths[-1] / lengths[0]) ** (1 / (len(lengths) - 1))
    return list(torch.stack((means[0], means[1:].mean())))


@GROWTH_FACTOR.mistake(
    "axes-swapped",
    en="You run along the tokens where the blocks are, and the other way round. Which axis is which?",
    de="Du läufst dort an den Token entlang, wo die Blöcke liegen, und umgekehrt. Welche Achse ist welche?",
    sv="Du går längs token där du borde gå längs blocken, och tvärtom. Vilken axel är vilken?",
)
def growth_factor_axes_swapped(lengths):
    lengths = lengths.T
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / blocks))


@GROWTH_FACTOR.mistake("axes-swapped")
def growth_factor_axes_swapped_blocks_counted_rightly(lengths):
    means = torch.stack((lengths[0], lengths[1:].mean(0)), 1)
    blocks = len(lengths) - 1
    return list((means[-1] / means[0]) ** (1 / blocks))


@GROWTH_FACTOR.mistake(
    "order-swapped",
    en="Both numbers are right, but in the other order.",
    de="Beide Zahlen stimmen, aber ihre Reihenfolge ist vertauscht.",
    sv="Båda talen stämmer, men de står i omvänd ordning.",
)
def growth_factor_order_swapped(lengths):
    means = first_and_later(lengths)
    blocks = len(lengths) - 1
    return list(((means[-1] / means[0]) ** (1 / blocks)).flip(0))


# 4 · Who wrote most?

# What the four sublayers of two blocks write, after the embedding, in three cases that are chosen
MUCH_THAT_CANCELS = torch.tensor([[10.0, 0, 0, 0], [1, 0, 0, 0], [-9, 0, 0, 0], [0, 10, 0, 0], [0, 0, 7.5, 7.5]])
ALONG_THE_STREAM = torch.tensor([[1.0, 0, 0, 0], [2.5, 0, 0, 0], [-3.3, 0, 0, 0], [-0.6, 0, 0, 0], [0, 0, 0, 0.3]])
OTHERS_FOR_OTHER_TOKENS = torch.tensor([[1.0, 0, 0, 0], [1.5, 0, 0, 0], [3, 0, 0, 0], [0, 0, 4, 0], [0, 0, 0, 0.5]])
FACTOR_OF_EACH_TOKEN = torch.tensor([[1.0, 1, 1], [1, 1, 1], [1, 1, 3], [1, 1, 1], [30, 1, 1]])


def largest_write_cases(randn):
    def chosen(writes, factors=1.0):
        """Return a stream of three tokens to which this is written, and a little noise in seven features."""
        written = F.pad(writes, (0, 3))[:, None] * torch.as_tensor(factors)[..., None]
        stream = (written + 0.01 * randn(5, 3, 7)).cumsum(0)
        return {"stream": list(stream), "position": 1}

    def drawn(spread, points, tokens, d, position):
        """Return a stream that is drawn; the sizes of what is written vary with `spread`."""
        sizes = (spread * randn(points, 1, 1)).exp()
        stream = (sizes * randn(points, tokens, d)).cumsum(0)
        return {"stream": list(stream), "position": position}

    return [
        chosen(MUCH_THAT_CANCELS),
        chosen(ALONG_THE_STREAM),
        chosen(OTHERS_FOR_OTHER_TOKENS, FACTOR_OF_EACH_TOKEN),
        drawn(0.3, points=9, tokens=5, d=7, position=2),
        drawn(0.5, points=11, tokens=4, d=7, position=1),
        drawn(0.3, points=13, tokens=5, d=4, position=0),
        drawn(0.5, points=15, tokens=4, d=3, position=2),
        drawn(0.3, points=17, tokens=6, d=4, position=3),
        drawn(0.3, points=19, tokens=3, d=5, position=1),
    ]


def largest_write(stream, position):
    return named(largest(lengths_written(stream, position)))


def lengths_written(stream, position):
    return [(b - a)[position].norm() for a, b in zip(stream, stream[1:])]


def largest(numbers):
    """Return the index of the largest number."""
    return int(torch.stack(numbers).argmax())


def named(index):
    """Return kind and block of a sublayer, counted from 0."""
    return ("attention", "mlp")[index % 2], index // 2 + 1


LARGEST_WRITE = Task("largest-write", largest_write, largest_write_cases, names=("attention", "mlp"))


@LARGEST_WRITE.mistake(
    "difference-of-lengths",
    en=(
        "You compare how much longer the stream becomes. A write at a right angle to a long stream hardly "
        "lengthens it: how long is the write itself?"
    ),
    de=(
        "Du vergleichst, um wie viel der Strom länger wird. Was senkrecht zu einem langen Strom geschrieben wird,"
        " verlängert ihn kaum. Wie lang ist das Geschriebene selbst?"
    ),
    sv=(
        "Du jämför hur mycket längre strömmen blir. Ett bidrag i rät vinkel mot en lång ström förlänger den "
        "knappt: hur långt är själva bidraget?"
    ),
)
def largest_write_difference_of_lengths(stream, position):
    return named(largest([b[position].norm() - a[position].norm() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake(
    "size-of-the-difference-of-lengths",
    en=(
        "You compare by how much the length of the stream changes, up or down. Two vectors of the same length can"
        " be far apart: what was added to get from one to the other?"
    ),
    de=(
        "Du vergleichst, wie stark sich die Länge des Stroms ändert, nach oben oder unten. Zwei gleich lange "
        "Vektoren können weit auseinanderliegen. Was wurde addiert, um vom einen zum anderen zu kommen?"
    ),
    sv=(
        "Du jämför hur mycket strömmens längd ändras, uppåt eller nedåt. Två lika långa vektorer kan ligga långt "
        "ifrån varandra: vad adderades för att komma från den ena till den andra?"
    ),
)
def largest_write_size_of_the_difference_of_lengths(stream, position):
    return named(largest([(b[position].norm() - a[position].norm()).abs() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake(
    "growth-factor",
    en=(
        "You compare by what factor the stream becomes longer, which favours the first sublayers. What was added,"
        " and how long is that?"
    ),
    de=(
        "Du vergleichst, um welchen Faktor der Strom länger wird; das begünstigt die ersten Teilschichten. Was "
        "wurde addiert, und wie lang ist das?"
    ),
    sv=(
        "Du jämför med vilken faktor strömmen blir längre, vilket gynnar de första delblocken. Vad adderades, och"
        " hur långt är det?"
    ),
)
def largest_write_growth_factor(stream, position):
    return named(largest([b[position].norm() / a[position].norm() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake(
    "share-of-the-stream",
    en="You divide each write by the stream that it meets. That is worth knowing, but the question is who wrote most.",
    de=(
        "Du teilst die Länge des Geschriebenen jeweils durch die des Stroms, auf den es trifft. Das ist gut zu "
        "wissen, gefragt ist aber, wer am meisten geschrieben hat."
    ),
    sv=(
        "Du dividerar varje bidrags längd med längden av strömmen som det möter. Det är bra att veta, men frågan "
        "är vem som skrev mest."
    ),
)
def largest_write_share_of_the_stream(stream, position):
    return named(largest([(b - a)[position].norm() / a[position].norm() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake(
    "longest-stream",
    en=(
        "You look for the sublayer after which the stream is longest. Much of that was there before: what did the"
        " sublayer itself add?"
    ),
    de=(
        "Du suchst die Teilschicht, nach der der Strom am längsten ist. Vieles davon war vorher schon da. Was hat"
        " die Teilschicht selbst addiert?"
    ),
    sv=(
        "Du letar efter den punkt där strömmen är längst. Mycket av den längden fanns redan före delblocket: vad "
        "adderade delblocket självt?"
    ),
)
def largest_write_longest_stream(stream, position):
    return named(largest([b[position].norm() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake(
    "largest-feature",
    en="You compare the largest single feature of each write. Which measure takes all features together?",
    de=(
        "Du vergleichst jeweils das größte einzelne Feature des Geschriebenen. Welches Maß nimmt alle Features "
        "zusammen?"
    ),
    sv="Du jämför varje bidrags största enskilda feature. Vilket mått tar alla features tillsammans?",
)
def largest_write_largest_feature(stream, position):
    return named(largest([(b - a)[position].abs().max() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake(
    "all-tokens",
    en="Your answer takes all tokens together. Whose stream is asked about?",
    de="Deine Antwort fasst alle Token zusammen. Nach welchem Token ist gefragt?",
    sv="Ditt svar tar alla token tillsammans. Vems ström gäller frågan?",
)
def largest_write_all_tokens(stream, position):
    return named(largest([(b - a).norm() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake(
    "last-token",
    en="Your answer is for the last token, whatever position is asked for.",
    de="Deine Antwort gilt für das letzte Token, egal, nach welcher Position gefragt ist.",
    sv="Ditt svar gäller den sista tokenen, vilken position frågan än gäller.",
)
def largest_write_last_token(stream, position):
    return named(largest([(b - a)[-1].norm() for a, b in zip(stream, stream[1:])]))


@LARGEST_WRITE.mistake(
    "block-from-zero",
    en="The kind is right, and the block is one too low. With which number does the count of the blocks begin?",
    de=(
        "Die Art stimmt, aber die Nummer des Blocks ist um eins zu klein. Mit welcher Zahl beginnt die Zählung "
        "der Blöcke?"
    ),
    sv="Typen stämmer, men blockets nummer är ett för lågt. Med vilket nummer börjar blocken räknas?",
)
def largest_write_block_from_zero(stream, position):
    index = largest(lengths_written(stream, position))
    return (("attention", "mlp")[index % 2], index // 2)


@LARGEST_WRITE.mistake(
    "sublayer-number",
    en="Your number counts sublayers. How many of them has a block?",
    de="Deine Nummer zählt Teilschichten. Wie viele davon hat ein Block?",
    sv="Du numrerar delblock. Hur många delblock har ett block?",
)
def largest_write_sublayer_number(stream, position):
    index = largest(lengths_written(stream, position))
    return (("attention", "mlp")[index % 2], index + 1)


@LARGEST_WRITE.mistake(
    "sublayer-index",
    en=(
        "Your number is the index of a sublayer, counted from 0. How many sublayers has a block, and how are "
        "blocks counted?"
    ),
    de=(
        "Deine Nummer ist der Index einer Teilschicht, ab 0 gezählt. Wie viele Teilschichten hat ein Block, und "
        "wie werden Blöcke gezählt?"
    ),
    sv="Ditt nummer är ett delblocks index, räknat från 0. Hur många delblock har ett block, och hur räknas blocken?",
)
def largest_write_sublayer_index(stream, position):
    index = largest(lengths_written(stream, position))
    return (("attention", "mlp")[index % 2], index)


@LARGEST_WRITE.mistake(
    "kinds-swapped",
    en="The block is right, the kind is not. Which of the two sublayers of a block comes first?",
    de="Der Block stimmt, die Art nicht. Welche der beiden Teilschichten eines Blocks kommt zuerst?",
    sv="Blocket stämmer, men inte typen. Vilket av blockets två delblock kommer först?",
)
def largest_write_kinds_swapped(stream, position):
    index = largest(lengths_written(stream, position))
    return (("mlp", "attention")[index % 2], index // 2 + 1)


@LARGEST_WRITE.mistake(
    "kind-with-capitals",
    en="The answer is right, but the kinds are written “attention” and “mlp” here, in lower case.",
    de="Die Antwort stimmt, aber die Art heißt hier „attention“ oder „mlp“, kleingeschrieben.",
    sv="Svaret är rätt, men typen skrivs här ”attention” eller ”mlp”, med gemener.",
)
def largest_write_kind_with_capitals(stream, position):
    index = largest(lengths_written(stream, position))
    return (("attention", "MLP")[index % 2], index // 2 + 1)


@LARGEST_WRITE.mistake("kind-with-capitals")
def largest_write_kind_with_capitals_of_both(stream, position):
    index = largest(lengths_written(stream, position))
    return (("Attention", "MLP")[index % 2], index // 2 + 1)


@LARGEST_WRITE.mistake("kind-with-capitals")
def largest_write_kind_with_capitals_of_the_first_letter(stream, position):
    index = largest(lengths_written(stream, position))
    return (("Attention", "Mlp")[index % 2], index // 2 + 1)


@LARGEST_WRITE.mistake("kind-with-capitals")
def largest_write_kind_with_capitals_everywhere(stream, position):
    index = largest(lengths_written(stream, position))
    return (("ATTENTION", "MLP")[index % 2], index // 2 + 1)


@LARGEST_WRITE.mistake(
    "block-first",
    en="Both parts are right, but in the other order.",
    de="Beides stimmt, aber in der anderen Reihenfolge.",
    sv="Båda delarna är rätt, men i omvänd ordning.",
)
def largest_write_block_first(stream, position):
    index = largest(lengths_written(stream, position))
    return (index // 2 + 1, ("attention", "mlp")[index % 2])


@LARGEST_WRITE.mistake(
    "point-before",
    en=(
        "You found the largest write, but you name the point before it. To which point does a difference of two "
        "points belong?"
    ),
    de=(
        "Den längsten Vektor hast du gefunden, nennst aber den Punkt vor seiner Teilschicht. Zu welchem der "
        "beiden Punkte gehört ihre Differenz?"
    ),
    sv=(
        "Du har hittat det största bidraget men anger punkten före det. Till vilken av två punkter hör skillnaden"
        " mellan dem?"
    ),
)
def largest_write_point_before(stream, position):
    index = largest(lengths_written(stream, position))
    return (("mlp", "attention")[index % 2], (index + 1) // 2)


TASKS = (
    STREAM_LENGTHS,
    LOGIT_LENS,
    GROWTH_FACTOR,
    LARGEST_WRITE,
)
