"""Assignment 3, where the norm sits: what its checks know. How to add a mistake: see the head of this package."""

import torch
import torch.nn.functional as F

from helpers.activities.tasks import Task


def norm_with(gamma, beta):
    """Return a LayerNorm with this gain and this bias, a function of x."""

    def norm(x):
        return F.layer_norm(x, gamma.shape, gamma, beta, 0.1)

    return norm


# 1a · Pre-norm


def block_cases(randn):
    attention_weight = randn(4, 4)
    mlp_weight = randn(4, 4)

    def attention(x):
        return x.cumsum(-2) @ attention_weight

    def mlp(x):
        return F.gelu(x @ mlp_weight) + 1

    norm_1 = norm_with(randn(4) + 2, randn(4) - 1)
    norm_2 = norm_with(randn(4) + 2, randn(4) + 1)
    x = 2 * randn(2, 5, 4) + 1
    return [{"x": x, "attention": attention, "mlp": mlp, "norm_1": norm_1, "norm_2": norm_2}]


def pre_norm_block(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_1(x))
    return h + mlp(norm_2(h))


PRE_NORM_BLOCK = Task("pre-norm-block", pre_norm_block, block_cases)


@PRE_NORM_BLOCK.mistake(
    "residual on the normalised copy",
    en=(
        "Your block adds to the normalised copies: when both sublayers write zeros, x does not come out again. "
        "What should the residual path carry?"
    ),
    de=(
        "Dein Block addiert zu den normalisierten Kopien: Wenn beide Teilschichten Nullen schreiben, kommt x "
        "nicht wieder heraus. Was soll der Residualpfad weitertragen?"
    ),
    sv=(
        "Ditt block adderar till de normaliserade kopiorna: när båda delblocken skriver nollor kommer x inte ut "
        "igen. Vad ska residualvägen föra vidare?"
    ),
)
def pre_norm_block_residual_on_the_normalised_copy(x, attention, mlp, norm_1, norm_2):
    n = norm_1(x)
    m = norm_2(n + attention(n))
    return m + mlp(m)


@PRE_NORM_BLOCK.mistake("residual on the normalised copy")
def pre_norm_block_residual_on_the_normalised_copy_in_the_attention(x, attention, mlp, norm_1, norm_2):
    n = norm_1(x)
    h = n + attention(n)
    return h + mlp(norm_2(h))


@PRE_NORM_BLOCK.mistake("residual on the normalised copy")
def pre_norm_block_residual_on_the_normalised_copy_in_the_mlp(x, attention, mlp, norm_1, norm_2):
    m = norm_2(x + attention(norm_1(x)))
    return m + mlp(m)


@PRE_NORM_BLOCK.mistake(
    "post-norm",
    en=(
        "Your norms act on the sums, so nothing passes through the block untouched. Which placement is that, and "
        "which one was asked for?"
    ),
    de=(
        "Deine Normen wirken auf die Summen, also kommt nichts unberührt durch den Block. Welche Platzierung ist "
        "das, und welche war gefragt?"
    ),
    sv=(
        "Dina normer verkar på summorna, så ingenting går orört genom blocket. Vilken placering är det, och "
        "vilken efterfrågades?"
    ),
)
def pre_norm_block_post_norm(x, attention, mlp, norm_1, norm_2):
    h = norm_1(x + attention(x))
    return norm_2(h + mlp(h))


@PRE_NORM_BLOCK.mistake(
    "output norm",
    en=(
        "Your sublayers read the stream as it is, and the norms act on what they write. Look again at what each "
        "sublayer should read."
    ),
    de=(
        "Deine Teilschichten lesen den Strom so, wie er ist, und die Normen wirken auf das, was sie schreiben. "
        "Sieh noch einmal nach, was eine Teilschicht lesen soll."
    ),
    sv=(
        "Dina delblock läser strömmen som den är, och normerna verkar på det som de skriver. Se efter igen vad "
        "ett delblock ska läsa."
    ),
)
def pre_norm_block_output_norm(x, attention, mlp, norm_1, norm_2):
    h = x + norm_1(attention(x))
    return h + norm_2(mlp(h))


@PRE_NORM_BLOCK.mistake(
    "one norm for both sublayers",
    en="norm_1 acts twice in your block and norm_2 never. Does the MLP share its norm with the attention?",
    de="norm_1 wirkt in deinem Block zweimal und norm_2 nie. Teilen sich Attention und MLP eine Norm?",
    sv="norm_1 verkar två gånger i ditt block och norm_2 aldrig. Har MLP:n och attention samma norm?",
)
def pre_norm_block_one_norm_for_both_sublayers(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_1(x))
    return h + mlp(norm_1(h))


@PRE_NORM_BLOCK.mistake(
    "norms exchanged",
    en="Each of your sublayers reads through the norm of the other one. Which of the two norms comes first?",
    de="Jede deiner Teilschichten liest durch die Norm der anderen. Welche der beiden Normen kommt zuerst?",
    sv="Vart och ett av dina delblock läser genom det andras norm. Vilken av de två normerna kommer först?",
)
def pre_norm_block_norms_exchanged(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_2(x))
    return h + mlp(norm_1(h))


@PRE_NORM_BLOCK.mistake(
    "parallel sublayers",
    en=(
        "Your MLP does not see what the attention has written. What does the stream hold when the second sublayer"
        " begins?"
    ),
    de=(
        "Dein MLP sieht nicht, was die Attention geschrieben hat. Was steht im Strom, wenn die zweite Teilschicht"
        " beginnt?"
    ),
    sv="Din MLP ser inte vad attention har skrivit. Vad finns i strömmen när det andra delblocket börjar?",
)
def pre_norm_block_parallel_sublayers(x, attention, mlp, norm_1, norm_2):
    return x + attention(norm_1(x)) + mlp(norm_2(x))


@PRE_NORM_BLOCK.mistake(
    "the attention's write is lost",
    en=(
        "The MLP reads what the attention has written, but your output does not contain it. To what do you add in"
        " the end?"
    ),
    de=(
        "Das MLP liest, was die Attention geschrieben hat, aber in deiner Ausgabe fehlt es. Zu welchem Zustand "
        "des Stroms addierst du am Ende?"
    ),
    sv="MLP:n läser det som attention har skrivit, men det saknas i dina utdata. Vad är det du adderar till på slutet?",
)
def pre_norm_block_the_attentions_write_is_lost(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_1(x))
    return x + mlp(norm_2(h))


@PRE_NORM_BLOCK.mistake(
    "no residual connection around the MLP",
    en=(
        "If the MLP writes zeros, your block returns zeros and forgets the stream. How many residual connections "
        "has a block?"
    ),
    de=(
        "Wenn das MLP Nullen schreibt, gibt dein Block Nullen zurück und vergisst den Strom. Wie viele "
        "Residualverbindungen hat ein Block?"
    ),
    sv=(
        "Om MLP:n skriver nollor returnerar ditt block nollor och glömmer strömmen. Hur många residualkopplingar "
        "har ett block?"
    ),
)
def pre_norm_block_no_residual_connection_around_the_mlp(x, attention, mlp, norm_1, norm_2):
    return mlp(norm_2(x + attention(norm_1(x))))


@PRE_NORM_BLOCK.mistake(
    "no residual connections",
    en=(
        "Your block has no residual connection: what comes in is replaced twice. To what does each sublayer add "
        "what it writes?"
    ),
    de=(
        "Dein Block hat keine Residualverbindung: Was hineinkommt, wird zweimal ersetzt. Wozu addiert jede "
        "Teilschicht, was sie schreibt?"
    ),
    sv=(
        "Ditt block har ingen residualkoppling: det som kommer in ersätts två gånger. Till vad adderar varje "
        "delblock det som det skriver?"
    ),
)
def pre_norm_block_no_residual_connections(x, attention, mlp, norm_1, norm_2):
    return mlp(norm_2(attention(norm_1(x))))


@PRE_NORM_BLOCK.mistake(
    "no residual connection around the attention",
    en="If the attention writes zeros, your block forgets x. How many residual connections has a block?",
    de="Wenn die Attention Nullen schreibt, vergisst dein Block x. Wie viele Residualverbindungen hat ein Block?",
    sv="Om attention skriver nollor glömmer ditt block x. Hur många residualkopplingar har ett block?",
)
def pre_norm_block_no_residual_connection_around_the_attention(x, attention, mlp, norm_1, norm_2):
    h = attention(norm_1(x))
    return h + mlp(norm_2(h))


@PRE_NORM_BLOCK.mistake(
    "no norm before the MLP",
    en="Your result does not depend on norm_2. What does the second sublayer read?",
    de="Dein Ergebnis hängt nicht von norm_2 ab. Was liest die zweite Teilschicht?",
    sv="Ditt resultat beror inte på norm_2. Vad läser det andra delblocket?",
)
def pre_norm_block_no_norm_before_the_mlp(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_1(x))
    return h + mlp(h)


@PRE_NORM_BLOCK.mistake(
    "no norms",
    en="Your result depends on neither of the two norms. What does each sublayer read in pre-norm?",
    de="Dein Ergebnis hängt von keiner der beiden Normen ab. Was liest jede Teilschicht bei Pre-Norm?",
    sv="Ditt resultat beror inte på någon av de två normerna. Vad läser varje delblock vid pre-norm?",
)
def pre_norm_block_no_norms(x, attention, mlp, norm_1, norm_2):
    h = x + attention(x)
    return h + mlp(h)


@PRE_NORM_BLOCK.mistake(
    "only the attention",
    en="Your result does not depend on the MLP. How many sublayers has a block?",
    de="Dein Ergebnis hängt nicht vom MLP ab. Wie viele Teilschichten hat ein Block?",
    sv="Ditt resultat beror inte på MLP:n. Hur många delblock har ett block?",
)
def pre_norm_block_only_the_attention(x, attention, mlp, norm_1, norm_2):
    return x + attention(norm_1(x))


@PRE_NORM_BLOCK.mistake(
    "the MLP comes first",
    en="Your MLP comes before the attention. In which order does the task name them?",
    de="Dein MLP kommt vor der Attention. In welcher Reihenfolge nennt die Aufgabe die beiden?",
    sv="Din MLP kommer före attention. I vilken ordning nämner uppgiften dem?",
)
def pre_norm_block_the_mlp_comes_first(x, attention, mlp, norm_1, norm_2):
    h = x + mlp(norm_2(x))
    return h + attention(norm_1(h))


# 1b · Post-norm


def post_norm_block(x, attention, mlp, norm_1, norm_2):
    h = norm_1(x + attention(x))
    return norm_2(h + mlp(h))


POST_NORM_BLOCK = Task("post-norm-block", post_norm_block, block_cases)


@POST_NORM_BLOCK.mistake(
    "pre-norm",
    en="Your block leaves a path that no norm touches. Which placement has such a path, and which one was asked for?",
    de=(
        "In deinem Block gibt es einen Pfad, den keine Norm berührt. Welche Platzierung hat einen solchen Pfad, "
        "und welche war gefragt?"
    ),
    sv="I ditt block finns en väg som ingen norm rör. Vilken placering har en sådan väg, och vilken efterfrågades?",
)
def post_norm_block_pre_norm(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_1(x))
    return h + mlp(norm_2(h))


@POST_NORM_BLOCK.mistake(
    "the norm acts on the write only",
    en="You normalise what a sublayer writes and add x afterwards. What comes first here, the addition or the norm?",
    de=(
        "Du normalisierst, was eine Teilschicht schreibt, und addierst x erst danach. Was kommt hier zuerst, die "
        "Addition oder die Norm?"
    ),
    sv=(
        "Du normaliserar det som ett delblock skriver och adderar x först efteråt. Vad kommer först här, "
        "additionen eller normen?"
    ),
)
def post_norm_block_the_norm_acts_on_the_write_only(x, attention, mlp, norm_1, norm_2):
    h = x + norm_1(attention(x))
    return h + norm_2(mlp(h))


@POST_NORM_BLOCK.mistake(
    "a norm before the sublayer, too",
    en="Your norms act before the sublayers as well as after the additions. What does a sublayer read in post-norm?",
    de=(
        "Deine Normen wirken auch vor den Teilschichten, nicht nur nach den Additionen. Was liest eine "
        "Teilschicht bei Post-Norm?"
    ),
    sv="Dina normer verkar även före delblocken, inte bara efter additionerna. Vad läser ett delblock vid post-norm?",
)
def post_norm_block_a_norm_before_the_sublayer_too(x, attention, mlp, norm_1, norm_2):
    h = norm_1(x + attention(norm_1(x)))
    return norm_2(h + mlp(norm_2(h)))


@POST_NORM_BLOCK.mistake(
    "the residual connection starts before the norm",
    en=(
        "Your MLP reads the normalised stream, but you add its answer to a state from before norm_1. From where "
        "does the second residual connection start?"
    ),
    de=(
        "Dein MLP liest den normalisierten Strom, aber seine Antwort addierst du zu einem Zustand vor norm_1. Wo "
        "beginnt die zweite Residualverbindung?"
    ),
    sv=(
        "Din MLP läser den normaliserade strömmen, men du adderar dess svar till ett tillstånd från före norm_1. "
        "Var börjar den andra residualkopplingen?"
    ),
)
def post_norm_block_the_residual_connection_starts_before_the_norm(x, attention, mlp, norm_1, norm_2):
    s = x + attention(x)
    return norm_2(s + mlp(norm_1(s)))


@POST_NORM_BLOCK.mistake(
    "one norm for both sublayers",
    en="norm_1 acts after both sublayers in your block and norm_2 never. Do the two norms have the same weights?",
    de=(
        "norm_1 wirkt in deinem Block nach beiden Teilschichten und norm_2 nie. Haben die beiden Normen dieselben"
        " Gewichte?"
    ),
    sv="norm_1 verkar efter båda delblocken i ditt block och norm_2 aldrig. Har de två normerna samma vikter?",
)
def post_norm_block_one_norm_for_both_sublayers(x, attention, mlp, norm_1, norm_2):
    h = norm_1(x + attention(x))
    return norm_1(h + mlp(h))


@POST_NORM_BLOCK.mistake(
    "norms exchanged",
    en="Your two norms have changed places. Which one belongs to the attention?",
    de="Deine beiden Normen haben die Plätze getauscht. Welche gehört zur Attention?",
    sv="Dina två normer har bytt plats. Vilken hör till attention?",
)
def post_norm_block_norms_exchanged(x, attention, mlp, norm_1, norm_2):
    h = norm_2(x + attention(x))
    return norm_1(h + mlp(h))


@POST_NORM_BLOCK.mistake(
    "only one norm, at the end of the block",
    en="Your result does not depend on norm_1. Does the norm come once per block or once per sublayer?",
    de="Dein Ergebnis hängt nicht von norm_1 ab. Kommt die Norm einmal pro Block oder einmal pro Teilschicht?",
    sv="Ditt resultat beror inte på norm_1. Kommer normen en gång per block eller en gång per delblock?",
)
def post_norm_block_only_one_norm_at_the_end_of_the_block(x, attention, mlp, norm_1, norm_2):
    h = x + attention(x)
    return norm_2(h + mlp(h))


@POST_NORM_BLOCK.mistake(
    "no norm after the MLP",
    en="Your result does not depend on norm_2. What follows each addition in post-norm?",
    de="Dein Ergebnis hängt nicht von norm_2 ab. Was folgt bei Post-Norm auf jede Addition?",
    sv="Ditt resultat beror inte på norm_2. Vad följer efter varje addition vid post-norm?",
)
def post_norm_block_no_norm_after_the_mlp(x, attention, mlp, norm_1, norm_2):
    h = norm_1(x + attention(x))
    return h + mlp(h)


@POST_NORM_BLOCK.mistake(
    "only the attention",
    en="Your result does not depend on the MLP. How many sublayers has a block?",
    de="Dein Ergebnis hängt nicht vom MLP ab. Wie viele Teilschichten hat ein Block?",
    sv="Ditt resultat beror inte på MLP:n. Hur många delblock har ett block?",
)
def post_norm_block_only_the_attention(x, attention, mlp, norm_1, norm_2):
    return norm_1(x + attention(x))


@POST_NORM_BLOCK.mistake(
    "the attention's write is lost",
    en="You add the MLP's answer to the block's input. Is that still the stream at this place?",
    de="Du addierst die Antwort des MLP zur Eingabe des Blocks. Ist das an dieser Stelle noch der Strom?",
    sv="Du adderar MLP:ns svar till blockets indata. Är det fortfarande strömmen på den här platsen?",
)
def post_norm_block_the_attentions_write_is_lost(x, attention, mlp, norm_1, norm_2):
    h = norm_1(x + attention(x))
    return norm_2(x + mlp(h))


@POST_NORM_BLOCK.mistake(
    "no residual connections",
    en="If both sublayers write zeros, your output no longer depends on x. What is missing beside the sublayers?",
    de=(
        "Wenn beide Teilschichten Nullen schreiben, hängt deine Ausgabe nicht mehr von x ab. Was fehlt neben den "
        "Teilschichten?"
    ),
    sv="Om båda delblocken skriver nollor beror dina utdata inte längre på x. Vad saknas vid sidan av delblocken?",
)
def post_norm_block_no_residual_connections(x, attention, mlp, norm_1, norm_2):
    return norm_2(mlp(norm_1(attention(x))))


@POST_NORM_BLOCK.mistake(
    "no residual connection around the MLP",
    en="If the MLP writes zeros, your output no longer depends on x. What is added before norm_2 acts?",
    de="Wenn das MLP Nullen schreibt, hängt deine Ausgabe nicht mehr von x ab. Was wird addiert, bevor norm_2 wirkt?",
    sv="Om MLP:n skriver nollor beror dina utdata inte längre på x. Vad adderas innan norm_2 verkar?",
)
def post_norm_block_no_residual_connection_around_the_mlp(x, attention, mlp, norm_1, norm_2):
    return norm_2(mlp(norm_1(x + attention(x))))


# 1c · Sandwich norm


def sandwich_sublayer_cases(randn):
    weight = randn(4, 4)

    def f(x):
        return F.gelu(x @ weight) + x.cumsum(-2)

    norm_before = norm_with(randn(4) + 2, randn(4) - 1)
    norm_after = norm_with(randn(4) + 2, randn(4) + 1)
    return [{"x": 2 * randn(2, 5, 4) + 1, "f": f, "norm_before": norm_before, "norm_after": norm_after}]


def sandwich_sublayer(x, f, norm_before, norm_after):
    return x + norm_after(f(norm_before(x)))


SANDWICH_SUBLAYER = Task("sandwich-sublayer", sandwich_sublayer, sandwich_sublayer_cases)


@SANDWICH_SUBLAYER.mistake(
    "the outer norm acts on the sum",
    en="Your outer norm normalises the stream as well, so the residual path is broken. What exactly should it act on?",
    de=(
        "Deine äußere Norm normalisiert auch den Strom, und damit ist der Residualpfad unterbrochen. Worauf genau"
        " soll sie wirken?"
    ),
    sv="Din yttre norm normaliserar även strömmen, så residualvägen är bruten. Vad exakt ska den verka på?",
)
def sandwich_sublayer_the_outer_norm_acts_on_the_sum(x, f, norm_before, norm_after):
    return norm_after(x + f(norm_before(x)))


@SANDWICH_SUBLAYER.mistake(
    "pre-norm",
    en=(
        "norm_after does nothing in your function: nothing bounds what is written. What lies on either side of a "
        "sandwich?"
    ),
    de=(
        "norm_after bewirkt in deiner Funktion nichts: Nichts begrenzt, was geschrieben wird. Was liegt bei einem"
        " Sandwich auf beiden Seiten?"
    ),
    sv=(
        "norm_after gör ingenting i din funktion: inget begränsar det som skrivs. Vad ligger på båda sidor i en "
        "sandwich?"
    ),
)
def sandwich_sublayer_pre_norm(x, f, norm_before, norm_after):
    return x + f(norm_before(x))


@SANDWICH_SUBLAYER.mistake(
    "output norm",
    en="norm_before does nothing in your function: f reads the stream at whatever length it has. What should f read?",
    de=(
        "norm_before bewirkt in deiner Funktion nichts: f liest den Strom mit der Länge, die er gerade hat. Was "
        "soll f lesen?"
    ),
    sv="norm_before gör ingenting i din funktion: f läser strömmen med den längd som den råkar ha. Vad ska f läsa?",
)
def sandwich_sublayer_output_norm(x, f, norm_before, norm_after):
    return x + norm_after(f(x))


@SANDWICH_SUBLAYER.mistake(
    "post-norm",
    en=(
        "That is post-norm: norm_before does nothing, and the other norm acts on the sum. What lies on either "
        "side of a sandwich?"
    ),
    de=(
        "Das ist Post-Norm: norm_before bewirkt nichts, und die andere Norm wirkt auf die Summe. Was liegt bei "
        "einem Sandwich auf beiden Seiten?"
    ),
    sv=(
        "Det är post-norm: norm_before gör ingenting, och den andra normen verkar på summan. Vad ligger på båda "
        "sidor i en sandwich?"
    ),
)
def sandwich_sublayer_post_norm(x, f, norm_before, norm_after):
    return norm_after(x + f(x))


@SANDWICH_SUBLAYER.mistake(
    "norms exchanged",
    en="Both norms act, but in each other's place. Follow x from the inside to the outside once more.",
    de="Beide Normen wirken, aber jede am Platz der anderen. Verfolge x noch einmal von innen nach außen.",
    sv="Båda normerna finns med, men de har bytt plats. Följ x inifrån och ut en gång till.",
)
def sandwich_sublayer_norms_exchanged(x, f, norm_before, norm_after):
    return x + norm_before(f(norm_after(x)))


@SANDWICH_SUBLAYER.mistake(
    "residual on the normalised copy",
    en="You add to the normalised copy, so the stream itself ends here. What should the residual path carry?",
    de=(
        "Du addierst zur normalisierten Kopie, der Strom selbst endet also hier. Was soll der Residualpfad "
        "weitertragen?"
    ),
    sv="Du adderar till den normaliserade kopian, så själva strömmen tar slut här. Vad ska residualvägen föra vidare?",
)
def sandwich_sublayer_residual_on_the_normalised_copy(x, f, norm_before, norm_after):
    n = norm_before(x)
    return n + norm_after(f(n))


@SANDWICH_SUBLAYER.mistake(
    "no residual connection",
    en="Your function returns only what the sublayer writes. Where is the stream?",
    de="Deine Funktion gibt nur zurück, was die Teilschicht schreibt. Wo bleibt der Strom?",
    sv="Din funktion returnerar bara det som delblocket skriver. Var är strömmen?",
)
def sandwich_sublayer_no_residual_connection(x, f, norm_before, norm_after):
    return norm_after(f(norm_before(x)))


@SANDWICH_SUBLAYER.mistake(
    "the same norm on both sides",
    en="The same norm acts on both sides of f in your function. Compare its two arguments once more.",
    de=(
        "In deiner Funktion wirkt auf beiden Seiten von f dieselbe Norm. Sieh noch einmal nach, welche Argumente "
        "die Funktion bekommt."
    ),
    sv="Samma norm verkar på båda sidor om f i din funktion. Jämför funktionens argument en gång till.",
)
def sandwich_sublayer_the_same_norm_on_both_sides(x, f, norm_before, norm_after):
    return x + norm_before(f(norm_before(x)))


# 1d · DeepNorm


def deepnorm_sublayer_cases(randn):
    weight = randn(4, 4)

    def f(x):
        return x.cumsum(-2) @ weight

    norm = norm_with(randn(4) + 2, randn(4) - 1)
    return [
        {"x": randn(2, 5, 4) + 1, "f": f, "norm": norm, "layers": 5},
        {"x": randn(5, 2, 4) - 1, "f": f, "norm": norm, "layers": 11},
    ]


def deepnorm_sublayer(x, f, norm, layers):
    return norm(alpha(layers) * x + f(x))


def alpha(layers):
    """Return DeepNorm's α for a decoder with this many blocks (Wang et al. 2022)."""
    return (2 * layers) ** 0.25


def beta(layers):
    """Return DeepNorm's β, the factor of weights at initialisation, for a decoder with this many blocks."""
    return (8 * layers) ** -0.25


DEEPNORM_SUBLAYER = Task("deepnorm-sublayer", deepnorm_sublayer, deepnorm_sublayer_cases)


@DEEPNORM_SUBLAYER.mistake(
    "alpha on the sublayer",
    en=(
        "In your function α makes the sublayer louder, so each sublayer turns the stream further than plain "
        "post-norm does. Which of the two terms should weigh more?"
    ),
    de=(
        "In deiner Funktion verstärkt α, was die Teilschicht schreibt; jede dreht den Strom dadurch weiter als "
        "bei gewöhnlicher Post-Norm. Welcher der beiden Summanden soll mehr Gewicht haben?"
    ),
    sv=(
        "I din funktion gör α delblocket starkare, så varje delblock vrider strömmen mer än i vanlig post-norm. "
        "Vilken av de två termerna ska väga tyngst?"
    ),
)
def deepnorm_sublayer_alpha_on_the_sublayer(x, f, norm, layers):
    return norm(x + alpha(layers) * f(x))


@DEEPNORM_SUBLAYER.mistake(
    "alpha on the whole sum",
    en=(
        "Your α scales the whole sum, and the norm takes a common factor out again (but for ε). What should α "
        "change about the sum?"
    ),
    de=(
        "Dein α skaliert die ganze Summe, und einen gemeinsamen Faktor nimmt die Norm (bis auf ε) wieder heraus. "
        "Was soll α an der Summe ändern?"
    ),
    sv=(
        "Ditt α skalar hela summan, och en gemensam faktor tar normen bort igen (så när som på ε). Vad ska α "
        "ändra i summan?"
    ),
)
def deepnorm_sublayer_alpha_on_the_whole_sum(x, f, norm, layers):
    return norm(alpha(layers) * (x + f(x)))


@DEEPNORM_SUBLAYER.mistake(
    "beta in place of alpha",
    en=(
        "Your factor is smaller than 1. DeepNorm has two constants: which of them acts in the forward pass, and "
        "which at initialisation?"
    ),
    de=(
        "Dein Faktor ist kleiner als 1. DeepNorm hat zwei Konstanten: Welche wirkt im Vorwärtsdurchlauf und "
        "welche bei der Initialisierung?"
    ),
    sv=(
        "Din faktor är mindre än 1. DeepNorm har två konstanter: vilken verkar i framåtpasset och vilken vid "
        "initieringen?"
    ),
)
def deepnorm_sublayer_beta_in_place_of_alpha(x, f, norm, layers):
    return norm(beta(layers) * x + f(x))


@DEEPNORM_SUBLAYER.mistake("beta in place of alpha")
def deepnorm_sublayer_beta_in_place_of_alpha_with_2(x, f, norm, layers):
    return norm((2 * layers) ** (-0.25) * x + f(x))


@DEEPNORM_SUBLAYER.mistake(
    "beta on the sublayer",
    en="Your α is right, but you multiply what f writes by β as well. When does β act?",
    de="Dein α stimmt, aber du multiplizierst auch das, was f schreibt, mit β. Wann wirkt β?",
    sv="Ditt α är rätt, men du multiplicerar även det som f skriver med β. När verkar β?",
)
def deepnorm_sublayer_beta_on_the_sublayer(x, f, norm, layers):
    return norm(alpha(layers) * x + beta(layers) * f(x))


@DEEPNORM_SUBLAYER.mistake(
    "plain post-norm",
    en=(
        "Your result does not depend on the number of layers: that is plain post-norm. What distinguishes "
        "DeepNorm from it?"
    ),
    de=(
        "Dein Ergebnis hängt nicht von der Zahl der Schichten ab: Das ist gewöhnliche Post-Norm. Was "
        "unterscheidet DeepNorm davon?"
    ),
    sv="Ditt resultat beror inte på antalet lager: det är vanlig post-norm. Vad skiljer DeepNorm från den?",
)
def deepnorm_sublayer_plain_post_norm(x, f, norm, layers):
    return norm(x + f(x))


@DEEPNORM_SUBLAYER.mistake(
    "alpha of 12 layers",
    en="Your α is always that of a model with 12 layers. From where can your function know how many there are?",
    de="Dein α ist immer das eines Modells mit 12 Schichten. Woher kann deine Funktion wissen, wie viele es sind?",
    sv="Ditt α är alltid det för en modell med 12 lager. Varifrån kan din funktion veta hur många de är?",
)
def deepnorm_sublayer_alpha_of_12_layers(x, f, norm, layers):
    return norm(24**0.25 * x + f(x))


@DEEPNORM_SUBLAYER.mistake(
    "pre-norm with alpha",
    en=(
        "Nothing normalises your sum, so the stream grows by the factor α in every sublayer. Is DeepNorm a "
        "pre-norm or a post-norm?"
    ),
    de=(
        "Deine Summe wird nicht normalisiert, also wächst der Strom in jeder Teilschicht um den Faktor α. Ist "
        "DeepNorm eine Pre-Norm oder eine Post-Norm?"
    ),
    sv=(
        "Inget normaliserar din summa, så strömmen växer med faktorn α i varje delblock. Är DeepNorm en pre-norm "
        "eller en post-norm?"
    ),
)
def deepnorm_sublayer_pre_norm_with_alpha(x, f, norm, layers):
    return alpha(layers) * x + f(norm(x))


@DEEPNORM_SUBLAYER.mistake("pre-norm with alpha")
def deepnorm_sublayer_pre_norm_with_alpha_no_norm_at_all(x, f, norm, layers):
    return alpha(layers) * x + f(x)


@DEEPNORM_SUBLAYER.mistake(
    "output norm with alpha",
    en="Your norm acts on what f writes and not on the sum. Where does the bracket of the norm begin?",
    de="Deine Norm wirkt auf das, was f schreibt, und nicht auf die Summe. Wo beginnt die Klammer der Norm?",
    sv="Din norm verkar på det som f skriver och inte på summan. Var börjar normens parentes?",
)
def deepnorm_sublayer_output_norm_with_alpha(x, f, norm, layers):
    return alpha(layers) * x + norm(f(x))


@DEEPNORM_SUBLAYER.mistake(
    "a norm before the sublayer, too",
    en="Your norm acts before f as well as after the sum. What does f read in a post-norm?",
    de="Deine Norm wirkt auch vor f, nicht nur nach der Summe. Was liest f bei Post-Norm?",
    sv="Din norm verkar även före f, inte bara efter summan. Vad läser f vid post-norm?",
)
def deepnorm_sublayer_a_norm_before_the_sublayer_too(x, f, norm, layers):
    return norm(alpha(layers) * x + f(norm(x)))


@DEEPNORM_SUBLAYER.mistake(
    "the power binds more tightly than the factor 2",
    en=(
        "Your α has the root of the number of layers alone, and the 2 stands outside. Print α for 12 layers and "
        "compare it with the lesson's."
    ),
    de=(
        "In deinem α steht unter der Wurzel nur die Zahl der Schichten, und die 2 steht davor. Gib α für 12 "
        "Schichten aus und vergleiche mit der Lektion."
    ),
    sv=(
        "I ditt α står bara antalet lager under roten och tvåan utanför. Skriv ut α för 12 lager och jämför med "
        "lektionen."
    ),
)
def deepnorm_sublayer_the_power_binds_more_tightly_than_the_factor_2(x, f, norm, layers):
    return norm(2 * layers**0.25 * x + f(x))


@DEEPNORM_SUBLAYER.mistake(
    "the power binds more tightly than the division",
    en="Your α grows in proportion to the number of layers. In which order does Python carry out ** and /?",
    de="Dein α wächst proportional zur Zahl der Schichten. In welcher Reihenfolge führt Python ** und / aus?",
    sv="Ditt α växer proportionellt mot antalet lager. I vilken ordning utför Python ** och /?",
)
def deepnorm_sublayer_the_power_binds_more_tightly_than_the_division(x, f, norm, layers):
    return norm((2 * layers) ** 1 / 4 * x + f(x))


@DEEPNORM_SUBLAYER.mistake(
    "square root",
    en="Your α grows too fast with the number of layers, so the sublayers hardly count. Look at the exponent again.",
    de=(
        "Dein α wächst zu schnell mit der Zahl der Schichten; die Teilschichten zählen dadurch kaum noch. Sieh "
        "dir den Exponenten noch einmal an."
    ),
    sv="Ditt α växer för fort med antalet lager, så delblocken betyder nästan ingenting. Titta på exponenten igen.",
)
def deepnorm_sublayer_square_root(x, f, norm, layers):
    return norm((2 * layers) ** 0.5 * x + f(x))


@DEEPNORM_SUBLAYER.mistake("square root")
def deepnorm_sublayer_square_root_no_root(x, f, norm, layers):
    return norm(2 * layers * x + f(x))


@DEEPNORM_SUBLAYER.mistake("square root")
def deepnorm_sublayer_square_root_cube_root(x, f, norm, layers):
    return norm((2 * layers) ** (1 / 3) * x + f(x))


@DEEPNORM_SUBLAYER.mistake(
    "factor 2 forgotten",
    en="Your α is too small, as if there were half as many layers. What stands under the root beside their number?",
    de=(
        "Dein α ist zu klein, als gäbe es nur halb so viele Schichten. Was steht außer ihrer Zahl noch unter der "
        "Wurzel?"
    ),
    sv="Ditt α är för litet, som om lagren vore hälften så många. Vad står under roten förutom deras antal?",
)
def deepnorm_sublayer_factor_2_forgotten(x, f, norm, layers):
    return norm(layers**0.25 * x + f(x))


@DEEPNORM_SUBLAYER.mistake(
    "sublayers counted as layers",
    en="Your α is too large, as if there were twice as many layers. What does the formula count, blocks or sublayers?",
    de="Dein α ist zu groß, als gäbe es doppelt so viele Schichten. Was zählt die Formel, Blöcke oder Teilschichten?",
    sv="Ditt α är för stort, som om lagren vore dubbelt så många. Vad räknar formeln, block eller delblock?",
)
def deepnorm_sublayer_sublayers_counted_as_layers(x, f, norm, layers):
    return norm((4 * layers) ** 0.25 * x + f(x))


@DEEPNORM_SUBLAYER.mistake(
    "the decoder of an encoder-decoder",
    en=(
        "That is the paper's α for a decoder that has an encoder beside it. Which of the paper's cases is a model"
        " like GPT?"
    ),
    de=(
        "Das ist das α der Veröffentlichung für einen Decoder, neben dem ein Encoder steht. Welcher Fall der "
        "Veröffentlichung ist ein Modell wie GPT?"
    ),
    sv=(
        "Det är artikelns α för en dekoder som har en enkoder bredvid sig. Vilket av artikelns fall är en modell "
        "som GPT?"
    ),
)
def deepnorm_sublayer_the_decoder_of_an_encoder_decoder(x, f, norm, layers):
    return norm((3 * layers) ** 0.25 * x + f(x))


# 2 · Write the identity test


def pre_norm(x, f, norm):
    return x + f(norm(x))


def post_norm(x, f, norm):
    return norm(x + f(x))


def no_norm(x, f, norm):
    return x + f(x)


def output_norm(x, f, norm):
    return x + norm(f(x))


def on_the_copy(x, f, norm):
    return norm(x) + f(norm(x))


def deepnorm(x, f, norm):
    return norm(1.5 * x + f(x))


def no_residual(x, f, norm):
    return f(norm(x))


def features_exchanged(x, f, norm):
    return x.flip(-1) + f(norm(x))


def last_feature_changed(x, f, norm):
    return x + torch.tensor([0.0, 0, 0, 1]) + f(norm(x))


def last_number_changed(x, f, norm):
    change = torch.zeros(x.numel())
    change[-1] = 1
    return x + change.view_as(x) + f(norm(x))


def first_number_changed(x, f, norm):
    change = torch.zeros(x.numel())
    change[0] = 1
    return x + change.view_as(x) + f(norm(x))


def standardise(x):
    return F.layer_norm(x, x.shape[-1:])


def rms_norm(x):
    return F.rms_norm(x, x.shape[-1:], eps=1e-12)


def overwriting(norm):
    """Return a norm that writes its result into the memory of its input."""

    def overwrite(x):
        return x.copy_(norm(x))

    return overwrite


def passes_cases(randn):
    """Return sublayers with norms: those that keep x are pre-norm, no norm, and output norm with a bias of 0."""
    ones = torch.ones(4)
    zeros = torch.zeros(4)
    trained = norm_with(randn(4) + 2, randn(4) - 1)
    far_away = norm_with(randn(4) + 9, randn(4).abs() + 1)
    overwritten = overwriting(norm_with(randn(4) + 9, randn(4).abs() + 1))
    without_bias = norm_with(randn(4) + 2, zeros)
    with_negative_bias = norm_with(ones, -0.5 - randn(4).abs())
    with_balanced_bias = norm_with(ones, torch.tensor([0.5, -0.5, 0.25, -0.25]))
    return [
        {"sublayer": pre_norm, "norm": trained, "d": 4},
        {"sublayer": post_norm, "norm": far_away, "d": 4},
        {"sublayer": no_norm, "norm": standardise, "d": 4},
        {"sublayer": output_norm, "norm": without_bias, "d": 4},
        {"sublayer": on_the_copy, "norm": rms_norm, "d": 4},
        {"sublayer": deepnorm, "norm": rms_norm, "d": 4},
        {"sublayer": pre_norm, "norm": overwritten, "d": 4},
        {"sublayer": output_norm, "norm": with_negative_bias, "d": 4},
        {"sublayer": output_norm, "norm": with_balanced_bias, "d": 4},
        {"sublayer": no_residual, "norm": standardise, "d": 4},
        {"sublayer": features_exchanged, "norm": standardise, "d": 4},
        {"sublayer": pre_norm, "norm": standardise, "d": 6},
        {"sublayer": last_feature_changed, "norm": standardise, "d": 4},
        {"sublayer": last_number_changed, "norm": standardise, "d": 4},
        {"sublayer": first_number_changed, "norm": standardise, "d": 4},
    ]


def passes(sublayer, norm, d):
    x = varied_tokens(d)
    return torch.equal(sublayer(x.clone(), torch.zeros_like, norm), x)


def varied_tokens(d):
    """Return three tokens whose numbers all differ."""
    return torch.arange(3.0 * d).cos().view(3, d)


IDENTITY_TEST = Task("identity-test", passes, passes_cases)


@IDENTITY_TEST.mistake(
    "the sublayer is not silent",
    en=(
        "Nothing passes your test, not even pre-norm. Does the f that you hand over really write nothing into the"
        " stream? And with what do you compare the output?"
    ),
    de=(
        "Bei deinem Test fällt alles durch, sogar Pre-Norm. Schreibt das f, das du übergibst, wirklich nichts in "
        "den Strom? Und womit vergleichst du die Ausgabe?"
    ),
    sv=(
        "Ditt test godkänner ingenting, inte ens pre-norm. Skriver det f som du skickar med verkligen ingenting i"
        " strömmen? Och vad jämför du utdata med?"
    ),
)
def identity_test_the_sublayer_is_not_silent(sublayer, norm, d):
    x = varied_tokens(d)
    return torch.equal(sublayer(x.clone(), lambda h: h, norm), x)


@IDENTITY_TEST.mistake(
    "the answer is turned round",
    en=(
        "Your test says no to every sublayer that keeps x, and yes to all others. For which of them should it "
        "return True?"
    ),
    de=(
        "Dein Test sagt Nein zu jeder Teilschicht, die x bewahrt, und Ja zu allen anderen. Bei welchen soll er "
        "True zurückgeben?"
    ),
    sv=(
        "Ditt test säger nej till varje delblock som behåller x och ja till alla andra. För vilka ska det "
        "returnera True?"
    ),
)
def identity_test_the_answer_is_turned_round(sublayer, norm, d):
    x = varied_tokens(d)
    return not torch.equal(sublayer(x.clone(), torch.zeros_like, norm), x)


@IDENTITY_TEST.mistake(
    "one equal number is enough",
    en=(
        "A sublayer that changes one token and keeps the others passes your test. How many of the numbers have to"
        " agree?"
    ),
    de=(
        "Eine Teilschicht, die ein Token ändert und die anderen bewahrt, besteht deinen Test. Wie viele der "
        "Zahlen müssen übereinstimmen?"
    ),
    sv=(
        "Ett delblock som ändrar en token och behåller de andra klarar ditt test. Hur många av talen måste stämma"
        " överens?"
    ),
)
def identity_test_one_equal_number_is_enough(sublayer, norm, d):
    x = varied_tokens(d)
    return (sublayer(x.clone(), torch.zeros_like, norm) == x).any().item()


@IDENTITY_TEST.mistake(
    "a tensor in place of a verdict",
    en="Your test returns a tensor of truth values, one for each number. The task asks for a single True or False.",
    de=(
        "Dein Test gibt einen Tensor aus Wahrheitswerten zurück, einen für jede Zahl. Die Aufgabe verlangt ein "
        "einziges True oder False."
    ),
    sv="Ditt test ger en tensor med sanningsvärden, ett för varje tal. Uppgiften kräver ett enda True eller False.",
)
def identity_test_a_tensor_in_place_of_a_verdict(sublayer, norm, d):
    x = varied_tokens(d)
    return sublayer(x.clone(), torch.zeros_like, norm) == x


@IDENTITY_TEST.mistake("a tensor in place of a verdict")
def identity_test_a_tensor_in_place_of_a_verdict_of_an_overwritten_input(sublayer, norm, d):
    x = varied_tokens(d)
    return sublayer(x, torch.zeros_like, norm) == x


@IDENTITY_TEST.mistake(
    "only the first token is compared",
    en="A sublayer that changes the last token only passes your test. Which tokens do you compare?",
    de="Eine Teilschicht, die nur das letzte Token ändert, besteht deinen Test. Welche Token vergleichst du?",
    sv="Ett delblock som bara ändrar den sista tokenen klarar ditt test. Vilka token jämför du?",
)
def identity_test_only_the_first_token_is_compared(sublayer, norm, d):
    x = varied_tokens(d)
    return torch.equal(sublayer(x.clone(), torch.zeros_like, norm)[0], x[0])


@IDENTITY_TEST.mistake(
    "only the first number is compared",
    en="A sublayer that changes the last feature only passes your test. Which of a token's numbers do you compare?",
    de=(
        "Eine Teilschicht, die nur das letzte Feature ändert, besteht deinen Test. Welche Zahlen eines Tokens "
        "vergleichst du?"
    ),
    sv="Ett delblock som bara ändrar den sista featuren klarar ditt test. Vilka av en tokens tal jämför du?",
)
def identity_test_only_the_first_number_is_compared(sublayer, norm, d):
    x = varied_tokens(d)
    return (sublayer(x.clone(), torch.zeros_like, norm)[0, 0] == x[0, 0]).item()


@IDENTITY_TEST.mistake(
    "only the shape is compared",
    en=(
        "Everything passes your test, post-norm as well. What about the output do you compare, its shape or its "
        "numbers?"
    ),
    de=(
        "Bei deinem Test kommt alles durch, auch Post-Norm. Was vergleichst du an der Ausgabe, die Form oder die "
        "Zahlen?"
    ),
    sv="Ditt test godkänner allt, även post-norm. Vad är det du jämför i utdata, formen eller talen?",
)
def identity_test_only_the_shape_is_compared(sublayer, norm, d):
    return sublayer(torch.ones(3, d), torch.zeros_like, norm).shape == (3, d)


@IDENTITY_TEST.mistake(
    "the input is overwritten before it is compared",
    en=(
        "A norm that overwrites the memory of x passes your test. With which numbers do you compare the output, "
        "and do they still exist at that moment?"
    ),
    de=(
        "Eine Norm, die den Speicher von x überschreibt, besteht deinen Test. Mit welchen Zahlen vergleichst du "
        "die Ausgabe, und gibt es sie in diesem Moment noch?"
    ),
    sv=(
        "En norm som skriver över det minne där x ligger klarar ditt test. Vilka tal jämför du utdata med, och "
        "finns de kvar i det ögonblicket?"
    ),
)
def identity_test_the_input_is_overwritten_before_it_is_compared(sublayer, norm, d):
    x = varied_tokens(d)
    return torch.equal(sublayer(x, torch.zeros_like, norm), x)


@IDENTITY_TEST.mistake(
    "the input is zero",
    en="A sublayer that returns zeros whatever comes in passes your test. Which x can tell that from keeping x?",
    de="Eine Teilschicht, die immer Nullen zurückgibt, besteht deinen Test. Bei welchem x würde man das merken?",
    sv="Ett delblock som alltid returnerar nollor klarar ditt test. Med vilket x skulle det märkas?",
)
def identity_test_the_input_is_zero(sublayer, norm, d):
    return torch.equal(sublayer(torch.zeros(3, d), torch.zeros_like, norm), torch.zeros(3, d))


@IDENTITY_TEST.mistake("the input is zero")
def identity_test_the_input_is_zero_and_overwritten(sublayer, norm, d):
    x = torch.zeros(3, d)
    return torch.equal(sublayer(x, torch.zeros_like, norm), x)


@IDENTITY_TEST.mistake(
    "all features are alike",
    en=(
        "A sublayer that exchanges features passes your test, and so does DeepNorm with RMSNorm. What is special "
        "about the numbers in your x?"
    ),
    de=(
        "Eine Teilschicht, die Features vertauscht, besteht deinen Test, und DeepNorm mit RMSNorm auch. Was ist "
        "an den Zahlen in deinem x besonders?"
    ),
    sv=(
        "Ett delblock som byter plats på features klarar ditt test, och det gör även DeepNorm med RMSNorm. Vad är"
        " speciellt med talen i ditt x?"
    ),
)
def identity_test_all_features_are_alike(sublayer, norm, d):
    return torch.equal(sublayer(torch.ones(3, d), torch.zeros_like, norm), torch.ones(3, d))


@IDENTITY_TEST.mistake("all features are alike")
def identity_test_all_features_are_alike_and_overwritten(sublayer, norm, d):
    x = torch.ones(3, d)
    return torch.equal(sublayer(x, torch.zeros_like, norm), x)


@IDENTITY_TEST.mistake(
    "the input is normalised already",
    en="DeepNorm with RMSNorm passes your test. On which x does a norm change nothing?",
    de="DeepNorm mit RMSNorm besteht deinen Test. Bei welchem x ändert eine Norm nichts?",
    sv="DeepNorm med RMSNorm klarar ditt test. För vilket x ändrar en norm ingenting?",
)
def identity_test_the_input_is_normalised_already(sublayer, norm, d):
    x = F.rms_norm(varied_tokens(d), (d,), eps=1e-12)
    return torch.allclose(sublayer(x.clone(), torch.zeros_like, norm), x, atol=1e-4)


@IDENTITY_TEST.mistake(
    "differences without their absolute value",
    en=(
        "A sublayer that makes every number smaller passes your test. What does the largest difference say when "
        "all differences are negative?"
    ),
    de=(
        "Eine Teilschicht, die jede Zahl kleiner macht, besteht deinen Test. Was sagt die größte Differenz, wenn "
        "alle Differenzen negativ sind?"
    ),
    sv=(
        "Ett delblock som gör varje tal mindre klarar ditt test. Vad säger den största skillnaden när alla "
        "skillnader är negativa?"
    ),
)
def identity_test_differences_without_their_absolute_value(sublayer, norm, d):
    x = varied_tokens(d)
    return bool((sublayer(x.clone(), torch.zeros_like, norm) - x).max() < 1e-4)


@IDENTITY_TEST.mistake(
    "differences cancel in the mean",
    en=(
        "A sublayer that raises some features and lowers others passes your test. What happens to positive and "
        "negative differences in a sum or mean?"
    ),
    de=(
        "Eine Teilschicht, die manche Features erhöht und andere senkt, besteht deinen Test. Was wird aus "
        "positiven und negativen Differenzen in einer Summe oder einem Mittelwert?"
    ),
    sv=(
        "Ett delblock som höjer vissa features och sänker andra klarar ditt test. Vad händer med positiva och "
        "negativa skillnader i en summa eller ett medelvärde?"
    ),
)
def identity_test_differences_cancel_in_the_mean(sublayer, norm, d):
    x = varied_tokens(d)
    return bool((sublayer(x.clone(), torch.zeros_like, norm) - x).mean().abs() < 1e-4)


@IDENTITY_TEST.mistake(
    "only lengths are compared",
    en=(
        "A sublayer that returns the features in another order passes your test. Can two different vectors have "
        "the same length?"
    ),
    de=(
        "Eine Teilschicht, die die Features in anderer Reihenfolge zurückgibt, besteht deinen Test. Können zwei "
        "verschiedene Vektoren gleich lang sein?"
    ),
    sv=(
        "Ett delblock som returnerar features i en annan ordning klarar ditt test. Kan två olika vektorer ha "
        "samma längd?"
    ),
)
def identity_test_only_lengths_are_compared(sublayer, norm, d):
    x = varied_tokens(d)
    return torch.allclose(sublayer(x.clone(), torch.zeros_like, norm).norm(dim=-1), x.norm(dim=-1))


@IDENTITY_TEST.mistake(
    "compared with the normalised input",
    en="Post-norm passes your test and pre-norm does not. With what do you compare the output?",
    de="Post-Norm besteht deinen Test und Pre-Norm nicht. Womit vergleichst du die Ausgabe?",
    sv="Post-norm klarar ditt test men inte pre-norm. Vad jämför du utdata med?",
)
def identity_test_compared_with_the_normalised_input(sublayer, norm, d):
    x = varied_tokens(d)
    return torch.allclose(sublayer(x.clone(), torch.zeros_like, norm), norm(x.clone()), atol=1e-4)


# 3 · Three planted bugs

PLANTED_BUGS = Task("planted-bugs", right={"A": 4, "B": 3, "C": 2})


PLANTED_BUGS.wrong_values(
    "counted from zero",
    {"A": 3, "B": 2, "C": 1},
    en="Are you sure that you count as the task does? With which number does the count of the lines begin?",
    de="Zählst du so, wie es die Aufgabe vorgibt? Mit welcher Zahl beginnt die Zählung der Zeilen?",
    sv="Räknar du som uppgiften säger? Med vilket nummer börjar raderna?",
)


PLANTED_BUGS.wrong_values(
    "A: the copy itself is blamed",
    {"A": 3},
    en="Line 3 of block A makes a normalised copy, as pre-norm does. What may be done with this copy, and what not?",
    de=(
        "Zeile 3 von Block A macht eine normalisierte Kopie, und das gehört zu Pre-Norm. Was darf mit dieser "
        "Kopie geschehen und was nicht?"
    ),
    sv=(
        "Rad 3 i block A gör en normaliserad kopia, och det hör till pre-norm. Vad får man göra med kopian, och "
        "vad inte?"
    ),
)


PLANTED_BUGS.wrong_values(
    "A: the healthy sublayer is blamed",
    {"A": 2},
    {"A": 1},
    en="The first sublayer of block A passes the identity test. Follow x further, to the second one.",
    de="Die erste Teilschicht von Block A besteht den Identitätstest. Verfolge x weiter, bis in die zweite.",
    sv="Det första delblocket i block A klarar identitetstestet. Följ x vidare, in i det andra.",
)


PLANTED_BUGS.wrong_values(
    "B: the sum is blamed",
    {"B": 4},
    en=(
        "Line 4 of block B adds what it gets to the right stream. From which state of the stream does the MLP get"
        " its answer?"
    ),
    de=(
        "Zeile 4 von Block B addiert zum richtigen Strom, was sie bekommt. Aus welchem Zustand des Stroms "
        "berechnet das MLP seine Antwort?"
    ),
    sv=(
        "Rad 4 i block B adderar det som den får till rätt ström. Ur vilket tillstånd hos strömmen räknar MLP:n "
        "ut sitt svar?"
    ),
)


PLANTED_BUGS.wrong_values(
    "B: the residual connection is blamed",
    {"B": 2},
    en=(
        "After line 2 of block B the stream holds x and what the attention wrote, as it should. Who reads it "
        "afterwards?"
    ),
    de=(
        "Nach Zeile 2 von Block B enthält der Strom x und das, was die Attention geschrieben hat, wie es sein "
        "soll. Wer liest ihn danach?"
    ),
    sv="Efter rad 2 i block B innehåller strömmen x och det som attention skrev, som den ska. Vem läser den sedan?",
)


PLANTED_BUGS.wrong_values(
    "B: the first norm is blamed",
    {"B": 1},
    en="Line 1 of block B normalises what the attention reads, as pre-norm does. Who reads the stream afterwards?",
    de=(
        "Zeile 1 von Block B normalisiert, was die Attention liest, und das gehört zu Pre-Norm. Wer liest den "
        "Strom danach?"
    ),
    sv="Rad 1 i block B normaliserar det som attention läser, och det hör till pre-norm. Vem läser strömmen sedan?",
)


PLANTED_BUGS.wrong_values(
    "C: alpha on the residual path is blamed",
    {"C": 4},
    en=(
        "You have seen that the two sums of block C differ, and you blame the second one. Which of them makes the"
        " sublayer louder than the stream?"
    ),
    de=(
        "Du hast gesehen, dass die beiden Summen in Block C verschieden sind, und hältst die zweite für falsch. "
        "Welche gibt der Teilschicht mehr Gewicht als dem Strom?"
    ),
    sv=(
        "Du har sett att de två summorna i block C skiljer sig åt, och du pekar ut den andra. Vilken av dem gör "
        "delblocket starkare än strömmen?"
    ),
)


PLANTED_BUGS.wrong_values(
    "C: a missing norm before the sublayer is blamed",
    {"C": 1},
    {"C": 3},
    en=(
        "In the line that you name in block C, a sublayer reads the stream without a norm. Is that wrong for this"
        " placement?"
    ),
    de=(
        "In der Zeile, die du in Block C nennst, liest eine Teilschicht den Strom ohne Norm. Ist das bei dieser "
        "Platzierung falsch?"
    ),
    sv="På raden som du nämner i block C läser ett delblock strömmen utan norm. Är det fel för den här placeringen?",
)


@PLANTED_BUGS.mistake(
    "no such line",
    en="Each block has four lines with a number. One of your numbers stands beside none of them.",
    de="Jeder Block hat vier Zeilen mit einer Nummer. Eine deiner Nummern steht neben keiner von ihnen.",
    sv="Varje block har fyra rader med ett nummer. Ett av dina nummer står inte vid någon av dem.",
)
def planted_bugs_no_such_line(answer):
    if not isinstance(answer, dict):
        return False
    return any(isinstance(line, int | float) and line not in (1, 2, 3, 4) for line in answer.values())


# 4 · Which curve belongs to which placement?

WHICH_CURVE = Task(
    "which-curve",
    right={"A": "sandwich", "B": "deepnorm", "C": "post", "D": "pre"},
    names=("pre", "post", "sandwich", "deepnorm"),
)


WHICH_CURVE.wrong_values(
    "post-norm and DeepNorm exchanged",
    {"A": "sandwich", "B": "post", "C": "deepnorm", "D": "pre"},
    en=(
        "The two growing streams are right. Look at the two flat ones again: what do α and β do to the gradient "
        "of a block?"
    ),
    de=(
        "Die beiden wachsenden Ströme stimmen. Sieh dir die beiden flachen noch einmal an: Was machen α und β mit"
        " dem Gradienten eines Blocks?"
    ),
    sv="De två växande strömmarna stämmer. Titta på de två plana igen: vad gör α och β med gradienten i ett block?",
)


WHICH_CURVE.wrong_values(
    "pre-norm and sandwich norm exchanged",
    {"A": "pre", "B": "deepnorm", "C": "post", "D": "sandwich"},
    en=(
        "The two flat streams are right. Look at the two growing ones again: how large is what a sublayer adds "
        "when a norm comes after it?"
    ),
    de=(
        "Die beiden flachen Ströme stimmen. Sieh dir die beiden wachsenden noch einmal an: Wie groß ist das, was "
        "eine Teilschicht addiert, wenn eine Norm auf sie folgt?"
    ),
    sv=(
        "De två plana strömmarna stämmer. Titta på de två växande igen: hur stort är det som ett delblock adderar"
        " när en norm kommer efter det?"
    ),
)


WHICH_CURVE.wrong_values(
    "both pairs exchanged",
    {"A": "pre", "B": "post", "C": "deepnorm", "D": "sandwich"},
    en=(
        "You tell growing from flat streams, but not yet one from the other within a pair. Compare the slopes in "
        "the first picture and the heights in the second."
    ),
    de=(
        "Du unterscheidest wachsende und flache Ströme, aber noch nicht die beiden innerhalb eines Paares. "
        "Vergleiche im ersten Bild die Steigungen und im zweiten die Höhen."
    ),
    sv=(
        "Du skiljer växande strömmar från plana, men inte än de två inom ett par. Jämför lutningarna i den första"
        " bilden och höjderna i den andra."
    ),
)


WHICH_CURVE.wrong_values(
    "pre-norm and post-norm exchanged",
    {"A": "sandwich", "B": "deepnorm", "C": "pre", "D": "post"},
    en=(
        "You let post-norm's stream grow and keep pre-norm's flat. What is the mean square of a vector that has "
        "just been normalised?"
    ),
    de=(
        "Bei dir wächst der Strom von Post-Norm, und der von Pre-Norm bleibt flach. Welches mittlere Quadrat hat "
        "ein Vektor, der gerade normalisiert wurde?"
    ),
    sv=(
        "Du låter post-norms ström växa och pre-norms vara plan. Vilken medelkvadrat har en vektor som just har "
        "normaliserats?"
    ),
)


WHICH_CURVE.wrong_values(
    "DeepNorm is thought to grow because of alpha",
    {"A": "deepnorm", "B": "sandwich", "C": "post", "D": "pre"},
    en="You let DeepNorm's stream grow the most. α does make x longer, but what happens right after it?",
    de="Bei dir wächst der Strom von DeepNorm am stärksten. α macht x zwar länger, aber was geschieht gleich danach?",
    sv="Du låter DeepNorms ström växa mest. α gör visserligen x längre, men vad händer direkt efteråt?",
)


WHICH_CURVE.wrong_values(
    "sandwich norm is thought to be flat",
    {"A": "post", "B": "deepnorm", "C": "sandwich", "D": "pre"},
    en=(
        "You take the stream of sandwich norm for flat. It has two norms, but does one of them see the stream "
        "after the addition?"
    ),
    de=(
        "Du hältst den Strom bei Sandwich-Norm für flach. Sie hat zwei Normen, aber sieht eine davon den Strom "
        "nach der Addition?"
    ),
    sv="Du tror att sandwich-norms ström är plan. Den har två normer, men ser någon av dem strömmen efter additionen?",
)


WHICH_CURVE.wrong_values(
    "growing and flat streams exchanged",
    {"A": "deepnorm", "B": "sandwich", "C": "pre", "D": "post"},
    en=(
        "All four are wrong in the same way: you call the flat streams pre-norm and sandwich norm. Which "
        "placements keep a path that no norm touches, and what does such a path do to a sum?"
    ),
    de=(
        "Alle vier sind auf dieselbe Weise falsch: Die flachen Ströme nennst du Pre-Norm und Sandwich-Norm. "
        "Welche Platzierungen haben einen Pfad, den keine Norm berührt, und was geschieht dort mit der Summe?"
    ),
    sv=(
        "Alla fyra är fel på samma sätt: du kallar de plana strömmarna pre-norm och sandwich-norm. Vilka "
        "placeringar har en väg som ingen norm rör, och vad gör en sådan väg med en summa?"
    ),
)


WHICH_CURVE.wrong_values(
    "a flat stream is given a free path",
    {"B": "pre"},
    {"C": "pre"},
    {"B": "sandwich"},
    {"C": "sandwich"},
    en=(
        "You call a flat stream pre-norm or sandwich norm. Which of the four placements end every sublayer with a"
        " norm on the stream?"
    ),
    de=(
        "Du hältst einen flachen Strom für Pre-Norm oder Sandwich-Norm. Bei welchen der vier Platzierungen endet "
        "jede Teilschicht mit einer Norm auf dem Strom?"
    ),
    sv=(
        "Du kallar en platt ström pre-norm eller sandwich-norm. Vid vilka av de fyra placeringarna slutar varje "
        "delblock med en norm på strömmen?"
    ),
)


@WHICH_CURVE.mistake(
    "one placement twice",
    en="You use one placement twice. The pictures show four different ones.",
    de="Du verwendest eine Platzierung zweimal. Die Bilder zeigen vier verschiedene.",
    sv="Du använder en placering två gånger. Bilderna visar fyra olika.",
)
def which_curve_one_placement_twice(answer):
    if not isinstance(answer, dict):
        return False
    known = [one for one in answer.values() if one in WHICH_CURVE.names]
    return len(set(known)) < len(known)


TASKS = (
    PRE_NORM_BLOCK,
    POST_NORM_BLOCK,
    SANDWICH_SUBLAYER,
    DEEPNORM_SUBLAYER,
    IDENTITY_TEST,
    PLANTED_BUGS,
    WHICH_CURVE,
)
