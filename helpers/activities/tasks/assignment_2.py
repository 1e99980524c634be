"""Assignment 2, RMSNorm: what its checks know. How to add a mistake: see the head of this package."""

import torch
import torch.nn.functional as F

from helpers.activities.tasks import TORCH_NORMS, Task, holds_text

# 1 · RMSNorm


def rms_norm_cases(randn):
    return [
        {"x": randn(2, 7, 4) + 1, "gamma": randn(4) + 2, "eps": 0.1},
        {"x": 2 * randn(4, 2, 6) - 1, "gamma": randn(6) + 2, "eps": 0.3},
    ]


def rms_norm(x, gamma, eps):
    return x / (mean_square(x) + eps).sqrt() * gamma


def mean_square(x):
    return x.square().mean(-1, keepdim=True)


def sum_of_squares(x):
    return x.square().sum(-1, keepdim=True)


def centred(x):
    return x - x.mean(-1, keepdim=True)


def variance(x):
    return x.var(-1, correction=0, keepdim=True)


RMS_NORM = Task("rms-norm", rms_norm, rms_norm_cases, refuses=TORCH_NORMS)


@RMS_NORM.mistake(
    "layer-norm",
    en="In your result each token has lost its mean, as under LayerNorm. What does RMSNorm do about the mean?",
    de="In deinem Ergebnis fehlt der Mittelwert jedes Tokens, wie bei LayerNorm. Was macht RMSNorm mit dem Mittelwert?",
    sv="I ditt resultat har varje token förlorat sitt medelvärde, som med LayerNorm. Vad gör RMSNorm med medelvärdet?",
)
def rms_norm_layer_norm(x, gamma, eps):
    return F.layer_norm(x, x.shape[-1:], gamma, None, eps)


@RMS_NORM.mistake(
    "layer-norm, unbiased, ε outside the root",
    en=(
        "In your result each token has lost its mean, and d − 1 comes in. Which norm is that, and which one is "
        "asked for?"
    ),
    de=(
        "In deinem Ergebnis fehlt der Mittelwert jedes Tokens, und d − 1 kommt vor. Welche Norm ist das, und "
        "welche ist gefragt?"
    ),
    sv=(
        "I ditt resultat har varje token förlorat sitt medelvärde, och d − 1 förekommer. Vilken norm är det, och "
        "vilken är det som efterfrågas?"
    ),
)
def rms_norm_layer_norm_unbiased_eps_outside_the_root(x, gamma, eps):
    return centred(x) / (x.std(-1, keepdim=True) + eps) * gamma


@RMS_NORM.mistake("layer-norm, unbiased, ε outside the root")
def rms_norm_layer_norm_unbiased_eps_outside_the_root_eps_inside(x, gamma, eps):
    return centred(x) / (x.var(-1, keepdim=True) + eps).sqrt() * gamma


@RMS_NORM.mistake("layer-norm, unbiased, ε outside the root")
def rms_norm_layer_norm_unbiased_eps_outside_the_root_without_eps(x, gamma, eps):
    return centred(x) / x.std(-1, keepdim=True) * gamma


@RMS_NORM.mistake(
    "standard deviation",
    en=(
        "You divide by the standard deviation, which measures from the mean. From where does the root mean square"
        " measure?"
    ),
    de=(
        "Du teilst durch die Standardabweichung, und die misst vom Mittelwert aus. Von wo aus misst das "
        "quadratische Mittel?"
    ),
    sv="Du delar med standardavvikelsen, som mäter från medelvärdet. Varifrån mäter det kvadratiska medelvärdet?",
)
def rms_norm_standard_deviation(x, gamma, eps):
    return x / (variance(x) + eps).sqrt() * gamma


@RMS_NORM.mistake("standard deviation")
def rms_norm_standard_deviation_eps_outside(x, gamma, eps):
    return x / (x.std(-1, keepdim=True, correction=0) + eps) * gamma


@RMS_NORM.mistake(
    "standard deviation, unbiased",
    en=(
        "You divide by a standard deviation with d − 1. Which numbers does RMSNorm square, and how many of them "
        "does it average?"
    ),
    de=(
        "Du teilst durch eine Standardabweichung mit d − 1. Welche Zahlen quadriert RMSNorm, und über wie viele "
        "mittelt sie?"
    ),
    sv=(
        "Du delar med en standardavvikelse med d − 1. Vilka tal kvadrerar RMSNorm, och hur många av dem tar den "
        "medelvärdet av?"
    ),
)
def rms_norm_standard_deviation_unbiased(x, gamma, eps):
    return x / (x.var(-1, keepdim=True) + eps).sqrt() * gamma


@RMS_NORM.mistake("standard deviation, unbiased")
def rms_norm_standard_deviation_unbiased_eps_outside(x, gamma, eps):
    return x / (x.std(-1, keepdim=True) + eps) * gamma


@RMS_NORM.mistake("standard deviation, unbiased")
def rms_norm_standard_deviation_unbiased_without_eps(x, gamma, eps):
    return x / x.std(-1, keepdim=True) * gamma


@RMS_NORM.mistake(
    "ε outside the root",
    en="Your ε is added after the root is taken. Where does it stand in the formula?",
    de="Dein ε kommt erst nach dem Wurzelziehen dazu. Wo steht es in der Formel?",
    sv="Ditt ε läggs till först när roten är dragen. Var står det i formeln?",
)
def rms_norm_eps_outside_the_root(x, gamma, eps):
    return x / (mean_square(x).sqrt() + eps) * gamma


@RMS_NORM.mistake(
    "no ε",
    en="ε has no effect on your result. What would your function return for a token of zeros?",
    de="ε hat keine Wirkung auf dein Ergebnis. Was gäbe deine Funktion für ein Token aus lauter Nullen zurück?",
    sv="ε påverkar inte ditt resultat. Vad skulle din funktion ge för en token som bara består av nollor?",
)
def rms_norm_no_eps(x, gamma, eps):
    return x / mean_square(x).sqrt() * gamma


@RMS_NORM.mistake(
    "ε squared",
    en="Your ε is squared before it is added. What is its unit in the formula, that of x or that of the mean square?",
    de=(
        "Dein ε wird quadriert, bevor es addiert wird. Welche Einheit hat es in der Formel, die von x oder die "
        "des mittleren Quadrats?"
    ),
    sv=(
        "Ditt ε kvadreras innan det adderas. Vilken enhet har det i formeln, samma som x eller samma som "
        "medelkvadraten?"
    ),
)
def rms_norm_eps_squared(x, gamma, eps):
    return x / (mean_square(x) + eps**2).sqrt() * gamma


@RMS_NORM.mistake(
    "power 2 in place of power 0.5",
    en=(
        "Twice the input gives about an eighth of your result, but should leave it almost as it is. Look at your "
        "exponents."
    ),
    de=(
        "Die doppelte Eingabe ergibt bei dir etwa ein Achtel, sollte aber fast nichts ändern. Sieh dir deine "
        "Exponenten an."
    ),
    sv=(
        "Dubbelt så stora indata ger ungefär en åttondel av ditt resultat, men borde ge nästan detsamma. Titta på"
        " exponenterna."
    ),
)
def rms_norm_power_2_in_place_of_power_0_5(x, gamma, eps):
    return x / (mean_square(x) + eps) ** 2 * gamma


@RMS_NORM.mistake(
    "no root",
    en=(
        "Twice the input gives about half of your result, but should leave it almost as it is. Which of the three"
        " steps of RMS is missing?"
    ),
    de=(
        "Die doppelte Eingabe ergibt bei dir etwa die Hälfte, sollte aber fast nichts ändern. Welcher der drei "
        "Schritte von RMS fehlt?"
    ),
    sv=(
        "Dubbelt så stora indata ger ungefär hälften av ditt resultat, men borde ge nästan detsamma. Vilket av de"
        " tre stegen i RMS saknas?"
    ),
)
def rms_norm_no_root(x, gamma, eps):
    return x / (mean_square(x) + eps) * gamma


@RMS_NORM.mistake(
    "root of the root",
    en=(
        "What you divide by is the root of a number that is a root already. How often does RMS take a root, and "
        "what stands under it?"
    ),
    de=(
        "Du teilst durch die Wurzel aus einer Zahl, die selbst schon eine Wurzel ist. Wie oft zieht RMS die "
        "Wurzel, und was steht darunter?"
    ),
    sv="Du delar med roten ur ett tal som redan är en rot. Hur många gånger drar RMS roten, och vad står under den?",
)
def rms_norm_root_of_the_root(x, gamma, eps):
    return x / (mean_square(x) + eps).sqrt().sqrt() * gamma


@RMS_NORM.mistake("root of the root")
def rms_norm_root_of_the_root_eps_between(x, gamma, eps):
    return x / (mean_square(x).sqrt() + eps).sqrt() * gamma


@RMS_NORM.mistake("root of the root")
def rms_norm_root_of_the_root_without_eps(x, gamma, eps):
    return x / mean_square(x).sqrt().sqrt() * gamma


@RMS_NORM.mistake(
    "divides by the reciprocal root",
    en=(
        "Twice the input gives about four times your result: large tokens become larger still. Is what you divide"
        " by a reciprocal already?"
    ),
    de=(
        "Die doppelte Eingabe ergibt bei dir etwa das Vierfache: Große Token werden noch größer. Ist das, wodurch"
        " du teilst, schon ein Kehrwert?"
    ),
    sv=(
        "Dubbelt så stora indata ger ungefär fyra gånger ditt resultat: stora token blir ännu större. Är det som "
        "du delar med redan inverterat?"
    ),
)
def rms_norm_divides_by_the_reciprocal_root(x, gamma, eps):
    return x * (mean_square(x) + eps).sqrt() * gamma


@RMS_NORM.mistake(
    "sum in place of mean",
    en="Before γ your tokens have length 1, however many features there are. What does the M in RMS stand for?",
    de="Vor γ haben deine Token die Länge 1, egal, wie viele Features es gibt. Wofür steht das M in RMS?",
    sv="Före γ har dina token längden 1, hur många features det än finns. Vad står M i RMS för?",
)
def rms_norm_sum_in_place_of_mean(x, gamma, eps):
    return x / (x.square().sum(-1, keepdim=True) + eps).sqrt() * gamma


@RMS_NORM.mistake("sum in place of mean")
def rms_norm_sum_in_place_of_mean_eps_outside(x, gamma, eps):
    return x / (x.norm(dim=-1, keepdim=True) + eps) * gamma


@RMS_NORM.mistake("sum in place of mean")
def rms_norm_sum_in_place_of_mean_without_eps(x, gamma, eps):
    return x / x.norm(dim=-1, keepdim=True) * gamma


@RMS_NORM.mistake(
    "mean after the root",
    en=(
        "You divide by d after the root is taken. Go through R, M and S once more, from right to left: what is "
        "the mean taken of?"
    ),
    de=(
        "Du teilst erst nach der Wurzel durch d. Geh R, M und S noch einmal von rechts nach links durch: Wovon "
        "wird der Mittelwert genommen?"
    ),
    sv="Du delar med d först efter roten. Gå igenom R, M och S en gång till från höger: vad tas medelvärdet av?",
)
def rms_norm_mean_after_the_root(x, gamma, eps):
    return x / ((x.square().sum(-1, keepdim=True) + eps).sqrt() / x.shape[-1]) * gamma


@RMS_NORM.mistake("mean after the root")
def rms_norm_mean_after_the_root_eps_outside(x, gamma, eps):
    return x / (x.norm(dim=-1, keepdim=True) / x.shape[-1] + eps) * gamma


@RMS_NORM.mistake("mean after the root")
def rms_norm_mean_after_the_root_without_eps(x, gamma, eps):
    return x / (x.norm(dim=-1, keepdim=True) / x.shape[-1]) * gamma


@RMS_NORM.mistake(
    "divided by d − 1",
    en="You divide the sum of the squares by d − 1. Of how many squares does RMSNorm take the mean?",
    de="Du teilst die Summe der Quadrate durch d − 1. Von wie vielen Quadraten nimmt RMSNorm den Mittelwert?",
    sv="Du delar kvadraternas summa med d − 1. Av hur många kvadrater tar RMSNorm medelvärdet?",
)
def rms_norm_divided_by_d_minus_1(x, gamma, eps):
    return x / (sum_of_squares(x) / (x.shape[-1] - 1) + eps).sqrt() * gamma


@RMS_NORM.mistake("divided by d − 1")
def rms_norm_divided_by_d_minus_1_eps_outside(x, gamma, eps):
    return x / ((sum_of_squares(x) / (x.shape[-1] - 1)).sqrt() + eps) * gamma


@RMS_NORM.mistake("divided by d − 1")
def rms_norm_divided_by_d_minus_1_without_eps(x, gamma, eps):
    return x / (sum_of_squares(x) / (x.shape[-1] - 1)).sqrt() * gamma


@RMS_NORM.mistake(
    "divided by the wrong size",
    en="You add up the squares of the features but divide by the size of another axis. How many squares are there?",
    de=(
        "Du addierst die Quadrate der Features, teilst aber durch die Größe einer anderen Achse. Wie viele "
        "Quadrate sind es?"
    ),
    sv="Du summerar kvadraterna av features men delar med storleken på en annan axel. Hur många kvadrater är det?",
)
def rms_norm_divided_by_the_wrong_size(x, gamma, eps):
    return x / (x.square().sum(-1, keepdim=True) / x.shape[1] + eps).sqrt() * gamma


@RMS_NORM.mistake("divided by the wrong size")
def rms_norm_divided_by_the_wrong_size_examples(x, gamma, eps):
    return x / (x.square().sum(-1, keepdim=True) / len(x) + eps).sqrt() * gamma


@RMS_NORM.mistake(
    "square of the mean",
    en="Features of opposite sign cancel in what you divide by. Do you square and average in the right order?",
    de=(
        "Features mit verschiedenen Vorzeichen heben sich in deinem Nenner auf. Stimmt die Reihenfolge von "
        "Quadrieren und Mitteln?"
    ),
    sv="Features med olika tecken tar ut varandra i din nämnare. Kvadrerar du och tar medelvärdet i rätt ordning?",
)
def rms_norm_square_of_the_mean(x, gamma, eps):
    return x / (x.mean(-1, keepdim=True).square() + eps).sqrt() * gamma


@RMS_NORM.mistake(
    "statistics over tokens and features",
    en=(
        "All tokens of one example share a root mean square, so a token's result depends on its neighbours. Whose"
        " numbers may a norm look at?"
    ),
    de=(
        "Alle Token eines Beispiels teilen sich ein quadratisches Mittel, also hängt das Ergebnis eines Tokens "
        "von seinen Nachbarn ab. Welche Zahlen dürfen in die Norm eines Tokens eingehen?"
    ),
    sv=(
        "Alla token i ett exempel delar på ett kvadratiskt medelvärde, så resultatet för en token beror på "
        "grannarna. Vilka tal får en norm titta på?"
    ),
)
def rms_norm_statistics_over_tokens_and_features(x, gamma, eps):
    return x / (x.square().mean((1, 2), keepdim=True) + eps).sqrt() * gamma


@RMS_NORM.mistake(
    "statistics over everything",
    en=(
        "The whole tensor shares a single root mean square. How many of them should there be for B examples of T "
        "tokens?"
    ),
    de=(
        "Der ganze Tensor teilt sich ein einziges quadratisches Mittel. Wie viele müssten es bei B Beispielen mit"
        " T Token sein?"
    ),
    sv="Hela tensorn delar på ett enda kvadratiskt medelvärde. Hur många borde det vara för B exempel med T token?",
)
def rms_norm_statistics_over_everything(x, gamma, eps):
    return x / (x.square().mean() + eps).sqrt() * gamma


@RMS_NORM.mistake(
    "statistics over tokens",
    en="Your mean runs over the tokens, so that each feature has its own. Which axis holds the numbers of one token?",
    de=(
        "Dein Mittelwert läuft über die Token, sodass jedes Feature einen eigenen hat. Auf welcher Achse liegen "
        "die Zahlen eines einzigen Tokens?"
    ),
    sv=(
        "Ditt medelvärde tas över token, så att varje feature har sitt eget. På vilken axel ligger talen för en "
        "enda token?"
    ),
)
def rms_norm_statistics_over_tokens(x, gamma, eps):
    return x / (x.square().mean(1, keepdim=True) + eps).sqrt() * gamma


@RMS_NORM.mistake(
    "statistics over examples",
    en="Your mean runs over the examples of the batch. Would a token get the same result if it came alone?",
    de="Dein Mittelwert läuft über die Beispiele des Batches. Bekäme ein Token dasselbe Ergebnis, wenn es allein käme?",
    sv="Ditt medelvärde tas över exemplen i batchen. Skulle en token få samma resultat om den kom ensam?",
)
def rms_norm_statistics_over_examples(x, gamma, eps):
    return x / (x.square().mean(0, keepdim=True) + eps).sqrt() * gamma


@RMS_NORM.mistake(
    "no gain",
    en="γ has no effect on your result. Where does it stand in the formula?",
    de="γ hat keine Wirkung auf dein Ergebnis. Wo steht es in der Formel?",
    sv="γ påverkar inte ditt resultat. Var står det i formeln?",
)
def rms_norm_no_gain(x, gamma, eps):
    return F.rms_norm(x, x.shape[-1:], None, eps)


@RMS_NORM.mistake(
    "gain before the norm",
    en=(
        "You multiply by γ first and normalise afterwards, so that γ takes part in the root mean square. What is "
        "the order in the formula?"
    ),
    de=(
        "Du multiplizierst erst mit γ und normalisierst dann, sodass γ in das quadratische Mittel eingeht. Welche"
        " Reihenfolge hat die Formel?"
    ),
    sv=(
        "Du multiplicerar först med γ och normaliserar sedan, så att γ ingår i det kvadratiska medelvärdet. "
        "Vilken ordning har formeln?"
    ),
)
def rms_norm_gain_before_the_norm(x, gamma, eps):
    return F.rms_norm(gamma * x, x.shape[-1:], None, eps)


@RMS_NORM.mistake(
    "Gemma's 1 + γ",
    en=(
        "You multiply by 1 + γ, as Gemma does with the weight that it stores. Which convention does the formula "
        "of this task have?"
    ),
    de=(
        "Du multiplizierst mit 1 + γ, wie Gemma es mit seinem gespeicherten Gewicht tut. Welche Konvention hat "
        "die Formel dieser Aufgabe?"
    ),
    sv="Du multiplicerar med 1 + γ, som Gemma gör med den vikt som är lagrad. Vad gäller i den här uppgiftens formel?",
)
def rms_norm_gemmas_1_plus_gamma(x, gamma, eps):
    return F.rms_norm(x, x.shape[-1:], 1 + gamma, eps)


@RMS_NORM.mistake(
    "gain added",
    en="You add γ, as one would a bias. What does a gain do?",
    de="Du addierst γ, wie man es mit einem Bias täte. Was tut eine Skalierung?",
    sv="Du adderar γ, som man gör med en bias. Vad gör en skalning?",
)
def rms_norm_gain_added(x, gamma, eps):
    return F.rms_norm(x, x.shape[-1:], None, eps) + gamma


# 2 · In 16 bits

# The sizes are chosen, not drawn, so that no order of roundings changes a result by 0.1 %, and the gains are powers of
# two. All tokens of the first case overflow, the first of them only in a square and not in the mean. The third case
# tells the formats apart.
LARGE = torch.tensor([[0.0, 400, 0, 0], [80, 453, 786, 471], [357, 579, 699, 310]])
SMALL = torch.tensor([[18.0, 35, 12, 5], [14, 15, 20, 52], [26, 32, 61, 20]]) / 16
POWERS_OF_TWO = torch.tensor([0.5, -2, 4, 2])


def rms_norm_half_cases(randn):
    def tokens(sizes):
        """Return tokens of these sizes, each twice in an example, with signs and an order that are drawn."""
        return (sizes.repeat(2, 1) * randn(2, 6, 4).sign())[..., randn(4).argsort()]

    same_size = 256 * randn(2, 6, 4).sign()
    return [
        {"x": tokens(LARGE).half(), "gamma": POWERS_OF_TWO.half(), "eps": 0.1},
        {"x": tokens(SMALL).half(), "gamma": POWERS_OF_TWO.half(), "eps": 0.1},
        {"x": same_size.bfloat16(), "gamma": POWERS_OF_TWO.bfloat16(), "eps": 1e-5},
    ]


def rms_norm_half(x, gamma, eps):
    return rms_norm(x.float(), gamma.float(), eps).to(x.dtype)


RMS_NORM_HALF = Task("rms-norm-half", rms_norm_half, rms_norm_half_cases)


@RMS_NORM_HALF.mistake(
    "squares overflow",
    en=(
        "Tokens with features of 256 or more come back as zeros. What is 300² in float16, and in which format do "
        "you square?"
    ),
    de=(
        "Token mit Features ab 256 kommen als Nullen zurück. Was ist 300² in float16, und in welchem Format "
        "bildest du die Quadrate?"
    ),
    sv=(
        "Token med features från 256 och uppåt kommer tillbaka som nollor. Vad är 300² i float16, och i vilket "
        "format kvadrerar du?"
    ),
)
def rms_norm_half_squares_overflow(x, gamma, eps):
    return x * (mean_square(x) + eps).rsqrt() * gamma


@RMS_NORM_HALF.mistake(
    "mean square overflows",
    en=(
        "One large feature is no problem for you, but a token of many large ones comes back as zeros. Which "
        "number after the squares do you store in 16 bits first?"
    ),
    de=(
        "Ein einzelnes großes Feature macht deiner Funktion nichts aus, aber ein Token mit vielen großen kommt "
        "als Nullen zurück. Welche Zahl ist nach den Quadraten die erste, die du in 16 Bit speicherst?"
    ),
    sv=(
        "En enda stor feature går bra, men en token med många stora kommer tillbaka som nollor. Vilket är det "
        "första tal efter kvadraterna som du lagrar i 16 bitar?"
    ),
)
def rms_norm_half_mean_square_overflows(x, gamma, eps):
    return x * (mean_square(x.float()).to(x.dtype) + eps).rsqrt() * gamma


@RMS_NORM_HALF.mistake(
    "through bfloat16",
    en=(
        "Nothing overflows, but your result has fewer correct digits than float16 can hold. How many digits does "
        "the format have to which you change?"
    ),
    de=(
        "Nichts läuft über, aber dein Ergebnis hat weniger richtige Stellen, als float16 fassen kann. Wie viele "
        "Stellen hat das Format, in das du wechselst?"
    ),
    sv=(
        "Inget blir för stort, men ditt resultat har färre korrekta siffror än float16 rymmer. Hur många siffror "
        "har formatet som du byter till?"
    ),
)
def rms_norm_half_through_bfloat16(x, gamma, eps):
    return F.rms_norm(x.bfloat16(), x.shape[-1:], gamma.bfloat16(), eps).to(x.dtype)


@RMS_NORM_HALF.mistake(
    "result always float16",
    en="The result is float16 even when x is bfloat16. From where can your function know which format to return?",
    de=(
        "Das Ergebnis ist auch dann float16, wenn x bfloat16 ist. Woher kann deine Funktion wissen, welches "
        "Format sie zurückgeben soll?"
    ),
    sv=(
        "Resultatet är float16 även när x är bfloat16. Varifrån kan din funktion veta vilket format den ska ge "
        "tillbaka?"
    ),
)
def rms_norm_half_result_always_float16(x, gamma, eps):
    return F.rms_norm(x.float(), x.shape[-1:], gamma.float(), eps).half()


@RMS_NORM_HALF.mistake(
    "result stays wide",
    en=(
        "The numbers are right, but the result has another format than x. What would the next layer, whose "
        "weights have 16 bits, say to that?"
    ),
    de=(
        "Die Zahlen stimmen, aber das Ergebnis hat ein anderes Format als x. Was würde die nächste Schicht mit "
        "ihren Gewichten in 16 Bit dazu sagen?"
    ),
    sv=(
        "Talen stämmer, men resultatet har ett annat format än x. Vad skulle nästa lager, vars vikter har 16 "
        "bitar, säga om det?"
    ),
)
def rms_norm_half_result_stays_wide(x, gamma, eps):
    return F.rms_norm(x.float(), x.shape[-1:], gamma.float(), eps)


@RMS_NORM_HALF.mistake(
    "infinite squares replaced",
    en=(
        "Squares above 65,504 count as 65,504 in your mean, so large tokens come out too large. Can they be kept "
        "from overflowing in the first place?"
    ),
    de=(
        "Quadrate über 65504 zählen in deinem Mittel als 65504, und große Token kommen zu groß heraus. Lässt sich"
        " der Überlauf von vornherein vermeiden?"
    ),
    sv=(
        "Kvadrater över 65 504 räknas som 65 504 i ditt medelvärde, och därför blir stora token för stora. Kan du"
        " se till att kvadraterna ryms i formatet redan från början?"
    ),
)
def rms_norm_half_infinite_squares_replaced(x, gamma, eps):
    return x * (x.square().nan_to_num().float().mean(-1, keepdim=True) + eps).rsqrt().to(x.dtype) * gamma


@RMS_NORM_HALF.mistake(
    "ε after scaling",
    en=(
        "You make the token small before you square it, and nothing overflows. But how large is ε now beside "
        "those squares?"
    ),
    de=(
        "Du machst das Token vor dem Quadrieren klein, und nichts läuft über. Aber wie groß ist ε jetzt neben "
        "diesen Quadraten?"
    ),
    sv=(
        "Du gör tokenen liten innan du kvadrerar, och inget blir för stort. Men hur stort är ε nu jämfört med "
        "kvadraterna?"
    ),
)
def rms_norm_half_eps_after_scaling(x, gamma, eps):
    return (x / x.abs().amax(-1, keepdim=True)).float().mul(
        ((x / x.abs().amax(-1, keepdim=True)).float().square().mean(-1, keepdim=True) + eps).rsqrt()
    ).to(x.dtype) * gamma


@RMS_NORM_HALF.mistake(
    "layer-norm",
    en="Format and range are in order, but each token has lost its mean. Which norm is that?",
    de="Format und Wertebereich stimmen, aber jedes Token hat seinen Mittelwert verloren. Welche Norm ist das?",
    sv="Format och talområde stämmer, men varje token har förlorat sitt medelvärde. Vilken norm är det?",
)
def rms_norm_half_layer_norm(x, gamma, eps):
    return F.layer_norm(x.float(), x.shape[-1:], gamma.float(), None, eps).to(x.dtype)


@RMS_NORM_HALF.mistake(
    "root of the root",
    en=(
        "Nothing overflows, but what you divide by is the root of a number that is a root already. What stands "
        "under the root in the formula?"
    ),
    de=(
        "Nichts läuft über, aber du teilst durch die Wurzel aus einer Zahl, die selbst schon eine Wurzel ist. Was"
        " steht in der Formel unter der Wurzel?"
    ),
    sv=(
        "Inget blir för stort, men du delar med roten ur ett tal som redan är en rot. Vad står under rottecknet i"
        " formeln?"
    ),
)
def rms_norm_half_root_of_the_root(x, gamma, eps):
    wide = x.float()
    return (wide / (mean_square(wide) + eps).sqrt().sqrt() * gamma.float()).to(x.dtype)


@RMS_NORM_HALF.mistake("root of the root")
def rms_norm_half_root_of_the_root_eps_between(x, gamma, eps):
    wide = x.float()
    return (wide / (mean_square(wide).sqrt() + eps).sqrt() * gamma.float()).to(x.dtype)


@RMS_NORM_HALF.mistake(
    "ε squared",
    en=(
        "Nothing overflows, but your ε is squared before it is added. What is its unit in the formula, that of x "
        "or that of the mean square?"
    ),
    de=(
        "Nichts läuft über, aber dein ε wird quadriert, bevor es addiert wird. Welche Einheit hat es in der "
        "Formel, die von x oder die des mittleren Quadrats?"
    ),
    sv=(
        "Inget blir för stort, men ditt ε kvadreras innan det adderas. Vilken enhet har det i formeln, samma som "
        "x eller samma som medelkvadraten?"
    ),
)
def rms_norm_half_eps_squared(x, gamma, eps):
    return rms_norm(x.float(), gamma.float(), eps**2).to(x.dtype)


@RMS_NORM_HALF.mistake(
    "no gain",
    en="Nothing overflows, but γ has no effect on your result. Where does it come in?",
    de="Nichts läuft über, aber γ hat keine Wirkung auf dein Ergebnis. Wo kommt es ins Spiel?",
    sv="Inget blir för stort, men γ påverkar inte ditt resultat. Var kommer det in?",
)
def rms_norm_half_no_gain(x, gamma, eps):
    return F.rms_norm(x.float(), x.shape[-1:], None, eps).to(x.dtype)


# 3 · From LayerNorm to RMSNorm


def to_rms_norm_cases(randn):
    """In the first case the layer is square, so that weights with rows and columns exchanged raise no error."""
    return [
        {"gamma": randn(4) + 2, "beta": randn(4) - 1, "eps": 0.1, "weight": randn(4, 4), "bias": randn(4)},
        {"gamma": randn(4) + 2, "beta": randn(4) - 1, "eps": 0.3, "weight": randn(6, 4), "bias": randn(6)},
    ]


def to_rms_norm(gamma, beta, eps, weight, bias):
    return [gamma, eps, bias + weight @ beta]


TO_RMS_NORM = Task("to-rms-norm", to_rms_norm, to_rms_norm_cases)


@TO_RMS_NORM.mistake(
    "β dropped",
    en="Your bias is the old one. LayerNorm added β to every token; who adds it now?",
    de="Dein Bias ist noch der alte. LayerNorm hat zu jedem Token β addiert; wer tut das jetzt?",
    sv="Din bias är den gamla. LayerNorm adderade β till varje token; vad är det som gör det nu?",
)
def to_rms_norm_beta_dropped(gamma, beta, eps, weight, bias):
    return [gamma, eps, bias]


@TO_RMS_NORM.mistake(
    "old bias lost",
    en="Your bias holds what β leaves behind, and nothing else. What did the linear layer add before?",
    de="Dein Bias enthält, was von β bleibt, und sonst nichts. Was hat die lineare Schicht vorher addiert?",
    sv="Din bias innehåller det som β lämnar efter sig, och inget annat. Vad adderade det linjära lagret tidigare?",
)
def to_rms_norm_old_bias_lost(gamma, beta, eps, weight, bias):
    return [gamma, eps, weight @ beta]


@TO_RMS_NORM.mistake(
    "β past the weights",
    en=(
        "You add β to the bias as it is. But β used to go into the linear layer, and the bias comes out of it: "
        "what happens in between?"
    ),
    de=(
        "Du addierst β unverändert zum Bias. Aber β ging bisher in die lineare Schicht hinein, und der Bias kommt"
        " erst hinten dazu: Was geschieht dazwischen?"
    ),
    sv=(
        "Du adderar β oförändrat till bias. Men β gick förut in i det linjära lagret, och dess bias kommer till "
        "först efteråt: vad händer däremellan?"
    ),
)
def to_rms_norm_beta_past_the_weights(gamma, beta, eps, weight, bias):
    return [gamma, eps, bias + beta]


@TO_RMS_NORM.mistake(
    "weights transposed",
    en=(
        "β meets the columns where it should meet the rows, or the other way round; the layer is square, so "
        "nothing complains. What does nn.Linear do with its weight?"
    ),
    de=(
        "Du multiplizierst β mit den Gewichten, aber Zeilen und Spalten sind dabei vertauscht; die Schicht ist "
        "quadratisch, deshalb bleibt die Fehlermeldung aus. Was macht nn.Linear mit seinen Gewichten?"
    ),
    sv=(
        "När β multipliceras med vikterna är deras rader och kolumner omkastade hos dig; lagret är kvadratiskt, "
        "så inget felmeddelande kommer. Vad gör nn.Linear med sina vikter?"
    ),
)
def to_rms_norm_weights_transposed(gamma, beta, eps, weight, bias):
    return [gamma, eps, bias + beta @ weight]


@TO_RMS_NORM.mistake(
    "β multiplied by γ",
    en="γ has got into your bias. In LayerNorm, what does γ multiply, and what comes after it?",
    de="In deinen Bias ist γ hineingeraten. Was multipliziert γ in LayerNorm, und was kommt erst danach?",
    sv="γ har kommit med i din bias. Vad multipliceras med γ i LayerNorm, och vad kommer efter det?",
)
def to_rms_norm_beta_multiplied_by_gamma(gamma, beta, eps, weight, bias):
    return [gamma, eps, bias + weight @ (gamma * beta)]


@TO_RMS_NORM.mistake(
    "β subtracted",
    en="Your bias takes away what LayerNorm used to add. Compare the two outputs for a token of zeros.",
    de="Dein Bias zieht ab, was LayerNorm bisher addiert hat. Vergleiche die beiden Ausgaben für ein Token aus Nullen.",
    sv="Din bias drar ifrån det som LayerNorm förut lade till. Jämför vad de båda leden ger för en token av nollor.",
)
def to_rms_norm_beta_subtracted(gamma, beta, eps, weight, bias):
    return [gamma, eps, bias - weight @ beta]


@TO_RMS_NORM.mistake(
    "β in the gain",
    en=(
        "You put β into the gain, where it is multiplied by the token. How large was its effect on a token of "
        "zeros before?"
    ),
    de=(
        "Du steckst β in die Skalierung, wo es mit dem Token multipliziert wird. Wie wirkte es bisher auf ein "
        "Token aus Nullen?"
    ),
    sv="Du lägger β i skalningen, där det multipliceras med tokenens tal. Vad gjorde β förut med en token av nollor?",
)
def to_rms_norm_beta_in_the_gain(gamma, beta, eps, weight, bias):
    return [gamma + beta, eps, bias]


@TO_RMS_NORM.mistake(
    "γ and β exchanged",
    en=(
        "You use β as the gain and γ in the bias. Which of the two multiplies the token in LayerNorm, and which "
        "is added?"
    ),
    de=(
        "Du nimmst β als Skalierung und γ im Bias. Was von beiden multipliziert in LayerNorm das Token, und was "
        "wird addiert?"
    ),
    sv=(
        "Du använder β som skalning och γ i bias. Vilket av de två multiplicerar tokenen i LayerNorm, och vilket "
        "adderas?"
    ),
)
def to_rms_norm_gamma_and_beta_exchanged(gamma, beta, eps, weight, bias):
    return [beta, eps, bias + weight @ gamma]


@TO_RMS_NORM.mistake(
    "default ε",
    en="γ and bias are right. Your ε is some default; which one did this LayerNorm have?",
    de="γ und Bias stimmen. Dein ε ist irgendein Standardwert; welches hatte diese LayerNorm?",
    sv="γ och bias stämmer. Ditt ε är ett standardvärde; vilket ε hade den LayerNorm som ersätts?",
)
def to_rms_norm_default_eps(gamma, beta, eps, weight, bias):
    return [gamma, 1e-05, bias + weight @ beta]


@TO_RMS_NORM.mistake(
    "ε squared",
    en=(
        "γ and bias are right. Your ε is the square of the one that is given. Is that of LayerNorm added to "
        "another quantity than that of RMSNorm?"
    ),
    de=(
        "γ und Bias stimmen. Dein ε ist das Quadrat des gegebenen. Wird das von LayerNorm zu etwas anderem "
        "addiert als das von RMSNorm?"
    ),
    sv=(
        "γ och bias stämmer. Ditt ε är kvadraten på det som är givet. Adderas LayerNorms ε till något annat än "
        "det i RMSNorm?"
    ),
)
def to_rms_norm_eps_squared(gamma, beta, eps, weight, bias):
    return [gamma, eps**2, bias + weight @ beta]


@TO_RMS_NORM.mistake(
    "Gemma's γ − 1",
    en="Your gain is too small by 1, as Gemma's class would store it. What does nn.RMSNorm multiply by?",
    de=(
        "Deine Skalierung ist um 1 zu klein, so wie die Klasse von Gemma sie speichern würde. Womit multipliziert"
        " nn.RMSNorm?"
    ),
    sv="Din skalning är 1 för liten, så som Gemmas klass skulle lagra den. Vad multiplicerar nn.RMSNorm med?",
)
def to_rms_norm_gemmas_gamma_minus_1(gamma, beta, eps, weight, bias):
    return [gamma - 1, eps, bias + weight @ beta]


@TO_RMS_NORM.mistake(
    "gain lost",
    en=(
        "Your gain is 1 everywhere, but nothing else has taken over γ: the weights stay as they are here. Where "
        "did it go?"
    ),
    de=(
        "Deine Skalierung ist überall 1, aber nichts anderes hat γ übernommen: Die Gewichte bleiben hier, wie sie"
        " sind. Wo ist γ geblieben?"
    ),
    sv="Din skalning är 1 överallt, men inget annat har tagit över γ: här ändras inte vikterna. Vart tog γ vägen?",
)
def to_rms_norm_gain_lost(gamma, beta, eps, weight, bias):
    return [torch.ones_like(gamma), eps, bias + weight @ beta]


@TO_RMS_NORM.mistake(
    "gain corrected for d − 1",
    en="You correct the gain for a variance that divides by d − 1. Which variance does LayerNorm take?",
    de="Du korrigierst die Skalierung für eine Varianz, die durch d − 1 teilt. Welche Varianz nimmt LayerNorm?",
    sv="Du korrigerar skalningen för en varians som delar med d − 1. Vilken varians tar LayerNorm?",
)
def to_rms_norm_gain_corrected_for_d_minus_1(gamma, beta, eps, weight, bias):
    return [gamma * ((len(gamma) - 1) / len(gamma)) ** 0.5, eps, bias + weight @ beta]


# 4 · Fold the gain


def fold_gain_cases(randn):
    """In the first case the layer is square, so that the wrong axis of the weights raises no error."""
    return [
        {"gamma": randn(4) + 2, "weight": randn(4, 4), "bias": randn(4)},
        {"gamma": randn(4) + 2, "weight": randn(6, 4), "bias": randn(6)},
    ]


def fold_gain(gamma, weight, bias):
    return [torch.ones_like(gamma), weight * gamma, bias]


FOLD_GAIN = Task("fold-gain", fold_gain, fold_gain_cases)


@FOLD_GAIN.mistake(
    "rows in place of columns",
    en=(
        "You multiply the outputs of the linear layer by γ; the layer is square, so no shape complains. Does γ "
        "act before the layer or after it?"
    ),
    de=(
        "Du multiplizierst die Ausgaben der linearen Schicht mit γ; sie ist quadratisch, also fällt es an keiner "
        "Form auf. Wirkt γ vor der Schicht oder danach?"
    ),
    sv=(
        "Du multiplicerar det linjära lagrets utdata med γ; lagret är kvadratiskt, så formerna stämmer ändå. "
        "Verkar γ före lagret eller efter det?"
    ),
)
def fold_gain_rows_in_place_of_columns(gamma, weight, bias):
    return [torch.ones_like(gamma), weight * gamma[:, None], bias]


@FOLD_GAIN.mistake(
    "gain applied twice",
    en="The weights hold γ, and so does the norm still: how often does γ act on a token now?",
    de="Die Gewichte enthalten γ, und die Norm hat es auch noch: Wie oft wirkt γ jetzt auf ein Token?",
    sv="Vikterna innehåller γ, och det gör normen fortfarande: hur många gånger verkar γ nu på en token?",
)
def fold_gain_gain_applied_twice(gamma, weight, bias):
    return [gamma, weight * gamma, bias]


@FOLD_GAIN.mistake(
    "gain lost",
    en="The norm has given γ away, but nobody has taken it. Who should?",
    de="Die Norm hat γ abgegeben, aber niemand hat es übernommen. Wer müsste es tun?",
    sv="Normen har lämnat ifrån sig γ, men inget annat har tagit emot det. Vilken del av modellen borde göra det?",
)
def fold_gain_gain_lost(gamma, weight, bias):
    return [torch.ones_like(gamma), weight, bias]


@FOLD_GAIN.mistake(
    "nothing folded",
    en="You return what you were given. The output is the same as before, but γ is still in the norm.",
    de="Du gibst zurück, was du bekommen hast. Die Ausgabe ist dieselbe wie vorher, aber γ steckt noch in der Norm.",
    sv="Du lämnar tillbaka det du fick. Utdata är desamma som förut, men γ sitter kvar i normen.",
)
def fold_gain_nothing_folded(gamma, weight, bias):
    return [gamma, weight, bias]


@FOLD_GAIN.mistake(
    "weights divided",
    en=(
        "You divide the weights by γ. Follow one feature with γ = 20 through the norm and the layer, before and "
        "after folding."
    ),
    de=(
        "Du teilst die Gewichte durch γ. Verfolge ein Feature mit γ = 20 durch Norm und Schicht, einmal vor dem "
        "Einrechnen und einmal danach."
    ),
    sv="Du delar vikterna med γ. Följ en feature med γ = 20 genom normen och lagret, före flytten och efter den.",
)
def fold_gain_weights_divided(gamma, weight, bias):
    return [torch.ones_like(gamma), weight / gamma, bias]


@FOLD_GAIN.mistake(
    "bias multiplied",
    en="γ has got into the bias too. Did the bias ever meet γ before folding?",
    de="γ ist auch in den Bias geraten. Hatte der Bias vor dem Einrechnen etwas mit γ zu tun?",
    sv="γ har kommit med i bias också. Mötte bias någonsin γ före flytten?",
)
def fold_gain_bias_multiplied(gamma, weight, bias):
    return [torch.ones_like(gamma), weight * gamma, bias * gamma]


@FOLD_GAIN.mistake(
    "norm wiped out",
    en="The gain that is left is 0, so every token comes out as zeros. Which gain changes nothing?",
    de=(
        "Die verbleibende Skalierung ist 0, also wird aus jedem Token eine Reihe von Nullen. Welche Skalierung "
        "ändert nichts?"
    ),
    sv="Skalningen som är kvar är 0, så varje token blir till nollor. Vilken skalning ändrar ingenting?",
)
def fold_gain_norm_wiped_out(gamma, weight, bias):
    return [torch.zeros_like(gamma), weight * gamma, bias]


@FOLD_GAIN.mistake(
    "gain as a number",
    en="The weights are right, but your new gain is a single number. The norm needs one for each feature.",
    de=(
        "Die Gewichte stimmen, aber deine neue Skalierung ist eine einzige Zahl. Die Norm braucht für jedes "
        "Feature eine."
    ),
    sv="Vikterna är rätt, men din nya skalning är ett enda tal. Normen behöver ett för varje feature.",
)
def fold_gain_gain_as_a_number(gamma, weight, bias):
    return [1.0, weight * gamma, bias]


@FOLD_GAIN.mistake(
    "reciprocal gain kept",
    en=(
        "The norm now divides by γ and the weights multiply by it, so γ cancels out. Should its effect remain or "
        "vanish?"
    ),
    de=(
        "Die Norm teilt jetzt durch γ, und die Gewichte multiplizieren damit, also hebt sich γ auf. Soll seine "
        "Wirkung bleiben oder verschwinden?"
    ),
    sv=(
        "Normen delar nu med γ och vikterna multiplicerar med det, så γ tar ut sig självt. Ska verkan av γ finnas"
        " kvar eller försvinna?"
    ),
)
def fold_gain_reciprocal_gain_kept(gamma, weight, bias):
    return [1 / gamma, weight * gamma, bias]


@FOLD_GAIN.mistake(
    "Gemma's 1 + γ",
    en="Your weights hold 1 + γ. Is γ stored here as in Gemma's class?",
    de="In deinen Gewichten steckt 1 + γ. Ist γ hier so gespeichert wie in der Klasse von Gemma?",
    sv="Dina vikter innehåller 1 + γ. Är γ lagrat här som i Gemmas klass?",
)
def fold_gain_gemmas_1_plus_gamma(gamma, weight, bias):
    return [torch.ones_like(gamma), weight * (1 + gamma), bias]


@FOLD_GAIN.mistake(
    "weights transposed",
    en=(
        "Your weights are the right numbers with rows and columns exchanged. Which of the two axes does nn.Linear"
        " put first?"
    ),
    de=(
        "In deinen Gewichten stehen die richtigen Zahlen, aber Zeilen und Spalten sind vertauscht. Welche der "
        "beiden Achsen kommt bei nn.Linear zuerst?"
    ),
    sv=(
        "Dina vikter är rätt tal, men rader och kolumner är omkastade. Vilken av de två axlarna kommer först i "
        "nn.Linear?"
    ),
)
def fold_gain_weights_transposed(gamma, weight, bias):
    return [torch.ones_like(gamma), (weight * gamma).T, bias]


@FOLD_GAIN.mistake(
    "product in place of weights",
    en=(
        "Your weights have become a single row of d_out numbers. Which shape must a layer have that still reads d"
        " features?"
    ),
    de=(
        "Aus deinen Gewichten ist eine einzige Reihe von d_out Zahlen geworden. Welche Form brauchen die Gewichte"
        " einer Schicht, die weiterhin d Features liest?"
    ),
    sv=(
        "Dina vikter har blivit en enda rad med d_out tal. Vilken form behöver ett lager som fortfarande läser d "
        "features?"
    ),
)
def fold_gain_product_in_place_of_weights(gamma, weight, bias):
    return [torch.ones_like(gamma), weight @ gamma, bias]


# 5 · Count

COUNT_NORMS = Task("count-norms", right=[113, 65536])  # 4 · 28 + 1, and 28 · (2 · 1024 + 2 · 128) + 1024


def is_pair_of_numbers(answer):
    return isinstance(answer, list) and len(answer) == 2 and all(isinstance(one, int | float) for one in answer)


COUNT_NORMS.wrong_values(
    "final norm forgotten",
    [112, 64512],
    [112, 65536],
    [113, 64512],
    en="Your layers are complete. What does the output matrix read?",
    de="Deine Schichten sind vollständig. Was liest die Ausgabematrix?",
    sv="Dina lager är fullständiga. Vad läser utdatamatrisen?",
)


COUNT_NORMS.wrong_values(
    "final norm in every layer",
    [140, 93184],
    en="You count five norms in each layer. Is one of them there only once in the whole model?",
    de="Du zählst fünf Normen in jeder Schicht. Gibt es eine davon im ganzen Modell nur einmal?",
    sv="Du räknar fem normer i varje lager. Finns en av dem bara en gång i hela modellen?",
)


COUNT_NORMS.wrong_values(
    "norms of queries and keys forgotten",
    [57, 58368],
    en="You count two norms in each layer, as Llama has them. Read once more what this configuration normalises.",
    de="Du zählst zwei Normen in jeder Schicht, wie bei Llama. Lies noch einmal, was diese Konfiguration normalisiert.",
    sv="Du räknar två normer i varje lager, som i Llama. Läs igen vad den här konfigurationen normaliserar.",
)


COUNT_NORMS.wrong_values(
    "one norm a head",
    [729, 144384],
    [113, 144384],
    [729, 65536],
    en="You count a norm of its own for each head. What does the text say about who shares one?",
    de="Du zählst für jeden Kopf eine eigene Norm. Was sagt der Text darüber, wer sich eine teilt?",
    sv="Du räknar en egen norm för varje huvud. Vad säger texten om vilka som delar på en?",
)


COUNT_NORMS.wrong_values(
    "one norm for queries and keys",
    [85, 61952],
    en="You count one norm for queries and keys together. What does the text say about the keys?",
    de="Du zählst eine einzige Norm für Query und Key. Was sagt der Text über den Key?",
    sv="Du räknar en enda norm för query och key. Vad säger texten om key?",
)


COUNT_NORMS.wrong_values(
    "all norms as wide as the stream",
    [113, 115712],
    en=(
        "The number of norms is right, but you give each the width of the stream. How many numbers does the norm "
        "of a query see?"
    ),
    de=(
        "Die Zahl der Normen stimmt, aber du gibst jeder die Breite des Stroms. Wie viele Zahlen sieht die Norm "
        "einer Query?"
    ),
    sv="Antalet normer stämmer, men du ger alla samma bredd som strömmen. Hur många tal ser normen för en query?",
)


COUNT_NORMS.wrong_values(
    "width of a head divided out",
    [113, 61952],
    en=(
        "You take the width of a head to be the width of the stream divided by the heads. Is it so in this "
        "configuration?"
    ),
    de=(
        "Du berechnest die Breite eines Kopfes als Breite des Stroms, geteilt durch die Zahl der Köpfe. Stimmt "
        "das in dieser Konfiguration?"
    ),
    sv=(
        "Du räknar med att ett huvuds bredd är strömmens bredd delad med antalet huvuden. Är det så i den här "
        "konfigurationen?"
    ),
)


COUNT_NORMS.wrong_values(
    "with β",
    [113, 131072],
    en="You count two parameters for each feature. Which of them does an RMSNorm not have?",
    de="Du zählst zwei Parameter für jedes Feature. Welchen davon hat eine RMSNorm nicht?",
    sv="Du räknar två parametrar för varje feature. Vilken av dem saknas i en RMSNorm?",
)


COUNT_NORMS.wrong_values(
    "one layer",
    [4, 2304],
    en="That is one layer. How many are there, and what comes after the last?",
    de="Das ist eine einzige Schicht. Wie viele gibt es, und was kommt nach der letzten?",
    sv="Det är ett enda lager. Hur många finns det, och vad kommer efter det sista?",
)


COUNT_NORMS.wrong_values(
    "order",
    [65536, 113],
    en="Both numbers are right, but in the other order.",
    de="Beide Zahlen stimmen, aber in der anderen Reihenfolge.",
    sv="Båda talen är rätt, men i omvänd ordning.",
)


@COUNT_NORMS.mistake(
    "text",
    en="Your answer is text. Leave out the quotation marks.",
    de="Deine Antwort ist Text. Lass die Anführungszeichen weg.",
    sv="Ditt svar är text. Ta bort citattecknen.",
)
def count_norms_text(answer):
    return holds_text(answer)


@COUNT_NORMS.mistake(
    "not two numbers",
    en="Write two numbers with a comma between them: the norms, then their parameters.",
    de="Schreib zwei Zahlen mit einem Komma dazwischen: erst die Normen, dann ihre Parameter.",
    sv="Skriv två tal med ett kommatecken emellan: först normerna, sedan deras parametrar.",
)
def count_norms_not_two_numbers(answer):
    return not isinstance(answer, list) or any(isinstance(one, list) for one in answer)


@COUNT_NORMS.mistake(
    "only the norms",
    en="1 of 2 numbers is right, that of the norms. Add up their widths again.",
    de="1 von 2 Zahlen stimmt, die der Normen. Addiere noch einmal ihre Breiten.",
    sv="1 av 2 tal är rätt, antalet normer. Addera deras bredder en gång till.",
)
def count_norms_only_the_norms(answer):
    return is_pair_of_numbers(answer) and answer[0] == 113


@COUNT_NORMS.mistake(
    "only the parameters",
    en="1 of 2 numbers is right, that of the parameters. Count the modules again.",
    de="1 von 2 Zahlen stimmt, die der Parameter. Zähle die Module noch einmal.",
    sv="1 av 2 tal är rätt, antalet parametrar. Räkna modulerna en gång till.",
)
def count_norms_only_the_parameters(answer):
    return is_pair_of_numbers(answer) and answer[1] == 65536


TASKS = (
    RMS_NORM,
    RMS_NORM_HALF,
    TO_RMS_NORM,
    FOLD_GAIN,
    COUNT_NORMS,
)
