"""Assignment 1, LayerNorm: what its checks know. How to add a mistake: see the head of this package."""

import torch
import torch.nn.functional as F

from helpers.activities.tasks import TORCH_NORMS, Task, holds_text

# 1 · LayerNorm by hand

X = torch.tensor([6, 0.5, 4.5, 2, 2])  # its mean is 3, the sum of the squared differences 19.5, the variance 3.9
GAMMA = torch.tensor([2, 0.8, 4, 1, 3])
BETA = torch.tensor([0.5, 2, -1, 2, -0.5])  # and ε = 0.1
RIGHT_NUMBERS = [3.5, 1.0, 2.0, 1.5, -2.0]

BY_HAND = Task("by-hand", right=RIGHT_NUMBERS)


def is_list_of_numbers(answer):
    return isinstance(answer, list) and all(isinstance(one, int | float) for one in answer)


def right_places(answer):
    """Return how many of five numbers are right in their places."""
    return sum(round(number, 2) == right for number, right in zip(answer, RIGHT_NUMBERS))


BY_HAND.wrong_values(
    "unbiased",
    (X - 3) / (19.5 / 4 + 0.1) ** 0.5 * GAMMA + BETA,
    en="You have divided the sum of the squares by 4. By which number does LayerNorm divide it?",
    de="Du hast die Summe der Quadrate durch 4 geteilt. Durch welche Zahl teilt LayerNorm sie?",
    sv="Du har delat kvadraternas summa med 4. Vilket tal delar LayerNorm den med?",
)


BY_HAND.wrong_values(
    "eps-outside",
    (X - 3) / (3.9**0.5 + 0.1) * GAMMA + BETA,
    en="Your ε was added to the standard deviation. To what does LayerNorm add it?",
    de="Du hast ε zur Standardabweichung addiert. Zu welcher Größe wird es bei LayerNorm addiert?",
    sv="Du har adderat ε till standardavvikelsen. Vad adderas det till i LayerNorm?",
)


BY_HAND.wrong_values(
    "unbiased-eps-outside",
    (X - 3) / ((19.5 / 4) ** 0.5 + 0.1) * GAMMA + BETA,
    en=(
        "Your divisor is that of a well-known tutorial, and two things in it are not LayerNorm's: which variance "
        "it takes, and where ε stands."
    ),
    de=(
        "So steht der Nenner auch in einem bekannten Tutorial. LayerNorm weicht davon an zwei Stellen ab: Sie "
        "nimmt eine andere Varianz, und ε steht woanders."
    ),
    sv=(
        "Din nämnare är densamma som i en välkänd handledning på nätet, och två saker i den stämmer inte med "
        "LayerNorm: vilken varians som används och var ε står."
    ),
)


BY_HAND.wrong_values(
    "eps-missing",
    (X - 3) / 3.9**0.5 * GAMMA + BETA,
    en="You have calculated as if ε were 0. Here it is large enough to be seen.",
    de="Du hast gerechnet, als wäre ε gleich 0. Hier ist es groß genug, dass man es sieht.",
    sv="Du har räknat som om ε vore 0. Här är det så stort att det märks.",
)


BY_HAND.wrong_values(
    "eps-squared",
    (X - 3) / (3.9 + 0.01) ** 0.5 * GAMMA + BETA,
    en="Your ε is squared before it is added. What is its unit in the formula, that of x or that of the variance?",
    de=(
        "Dein ε wird quadriert, bevor es addiert wird. Welche Einheit hat es in der Formel, die von x oder die "
        "der Varianz?"
    ),
    sv="Ditt ε kvadreras innan det adderas. Vilken enhet har det i formeln, samma som x eller samma som variansen?",
)


BY_HAND.wrong_values(
    "unbiased-eps-missing",
    (X - 3) / (19.5 / 4) ** 0.5 * GAMMA + BETA,
    en="Two things differ from LayerNorm: you have divided the sum of the squares by 4, and ε is missing.",
    de="Zweierlei weicht von LayerNorm ab: Du hast die Summe der Quadrate durch 4 geteilt, und ε fehlt.",
    sv="Två saker skiljer sig från LayerNorm: du har delat kvadraternas summa med 4, och ε saknas.",
)


BY_HAND.wrong_values(
    "no-root",
    (X - 3) / 4 * GAMMA + BETA,
    en=(
        "Your differences were divided by 4. If x is in metres, what is the unit of a variance, and what should "
        "be that of the quotient?"
    ),
    de=(
        "Du hast die Abweichungen durch 4 geteilt. Welche Einheit hat eine Varianz, wenn x in Metern gemessen "
        "ist, und welche Einheit soll der Quotient haben?"
    ),
    sv=(
        "Du har delat differenserna med 4. Vilken enhet har en varians om x mäts i meter, och vilken enhet ska "
        "kvoten ha?"
    ),
)


BY_HAND.wrong_values(
    "root-of-the-root",
    (X - 3) / 2**0.5 * GAMMA + BETA,
    (X - 3) / (3.9**0.5 + 0.1) ** 0.5 * GAMMA + BETA,
    (X - 3) / 3.9**0.25 * GAMMA + BETA,
    en=(
        "You have taken a root twice: what you divide by is the root of a number that is a root already. What "
        "stands under the root in the formula?"
    ),
    de=(
        "Du hast zweimal die Wurzel gezogen: Du teilst durch die Wurzel aus einer Zahl, die selbst schon eine "
        "Wurzel ist. Was steht in der Formel unter der Wurzel?"
    ),
    sv=(
        "Du har dragit roten två gånger: du delar med roten ur ett tal som redan är en rot. Vad står under "
        "rottecknet i formeln?"
    ),
)


BY_HAND.wrong_values(
    "sum-of-squares",
    (X - 3) / 19.6**0.5 * GAMMA + BETA,
    (X - 3) / 19.5**0.5 * GAMMA + BETA,
    en="You have added up the squares, but a variance is a mean.",
    de="Du hast die Quadrate aufaddiert; eine Varianz ist aber ein Mittelwert.",
    sv="Du har summerat kvadraterna, men en varians är ett medelvärde.",
)


BY_HAND.wrong_values(
    "not-centred",
    X / 13**0.5 * GAMMA + BETA,
    en=(
        "Add 100 to every feature and calculate again: your result moves, that of LayerNorm does not. (Lesson 2 "
        "has a norm like yours.)"
    ),
    de=(
        "Addiere zu jedem Feature 100 und rechne noch einmal: Dein Ergebnis ändert sich, das von LayerNorm nicht."
        " (Eine Norm wie deine kommt in Lektion 2.)"
    ),
    sv=(
        "Addera 100 till varje feature och räkna igen: ditt resultat ändras, men inte det som LayerNorm ger. (En "
        "norm som din kommer i lektion 2.)"
    ),
)


BY_HAND.wrong_values(
    "sign",
    (3 - X) / 2 * GAMMA + BETA,
    en="The feature that lies furthest above the mean comes out below it. Look at the signs of your differences.",
    de=(
        "Das Feature, das am weitesten über dem Mittelwert liegt, landet bei dir darunter. Sieh dir die "
        "Vorzeichen deiner Abweichungen an."
    ),
    sv="Den feature som ligger längst över medelvärdet hamnar under det hos dig. Titta på differensernas förtecken.",
)


BY_HAND.wrong_values(
    "no-gain-no-bias",
    (X - 3) / 2,
    (X - 3) / 1,
    (X - 3) / 3.9**0.5,
    (X - 3) / (19.5 / 4) ** 0.5,
    (X - 3) / (19.5 / 4 + 0.1) ** 0.5,
    (X - 3) / 4,
    en="Your vector has mean 0. The formula goes on after that.",
    de="Dein Vektor hat den Mittelwert 0. Danach geht die Formel noch weiter.",
    sv="Din vektor har medelvärdet 0. Formeln fortsätter efter det.",
)


BY_HAND.wrong_values(
    "no-gain",
    (X - 3) / 2 + BETA,
    en="Another γ would not change your result. Read the formula from its beginning.",
    de="Ein anderes γ würde an deinem Ergebnis nichts ändern. Lies die Formel von Anfang an.",
    sv="Ett annat γ skulle inte ändra ditt resultat. Läs formeln från början.",
)


BY_HAND.wrong_values(
    "no-bias",
    (X - 3) / 2 * GAMMA,
    en="Another β would not change your result. Read the formula to its end.",
    de="Ein anderes β würde an deinem Ergebnis nichts ändern. Lies die Formel bis zum Ende.",
    sv="Ett annat β skulle inte ändra ditt resultat. Läs formeln till slutet.",
)


BY_HAND.wrong_values(
    "bias-before-gain",
    ((X - 3) / 2 + BETA) * GAMMA,
    en="The gain γ has multiplied β as well. Which of the two comes last?",
    de="Die Skalierung γ hat auch β multipliziert. Was von beiden kommt zuletzt?",
    sv="Du har multiplicerat även β med skalningen γ. Vilket av de två kommer sist i formeln?",
)


BY_HAND.wrong_values(
    "gain-and-bias-exchanged",
    (X - 3) / 2 * BETA + GAMMA,
    en="You have multiplied by β and added γ. Which of the two is the factor?",
    de="Du hast mit β multipliziert und γ addiert. Was von beiden ist der Faktor?",
    sv="Du har multiplicerat med β och adderat γ. Vilket av de två är faktorn?",
)


@BY_HAND.mistake(
    "text",
    en="Your answer is text. Leave out the quotation marks, and write decimal points.",
    de="Deine Antwort ist Text. Lass die Anführungszeichen weg und schreib Dezimalpunkte.",
    sv="Ditt svar är text. Ta bort citattecknen och skriv decimalpunkter.",
)
def by_hand_text(answer):
    return holds_text(answer)


@BY_HAND.mistake(
    "not-a-list",
    en="Write the five numbers as one list, in square brackets and with commas between them.",
    de="Schreib die fünf Zahlen als eine Liste, in eckigen Klammern und durch Kommas getrennt.",
    sv="Skriv de fem talen som en lista, inom hakparenteser och med kommatecken emellan.",
)
def by_hand_not_a_list(answer):
    return not isinstance(answer, list) or any(isinstance(one, list) for one in answer)


@BY_HAND.mistake(
    "order",
    en="Your five numbers are right, but in another order. Leave them in the order of the features.",
    de="Deine fünf Zahlen stimmen, aber in anderer Reihenfolge. Lass sie in der Reihenfolge der Features.",
    sv="Dina fem tal är rätt, men i en annan ordning. Låt dem stå i samma ordning som features.",
)
def by_hand_order(answer):
    return is_list_of_numbers(answer) and sorted(round(one, 2) for one in answer) == sorted(RIGHT_NUMBERS)


@BY_HAND.mistake(
    "four-right",
    en="4 of your 5 numbers are right. Work out the other one again, its size and its sign.",
    de="4 deiner 5 Zahlen stimmen. Rechne die andere noch einmal nach, Betrag und Vorzeichen.",
    sv="4 av dina 5 tal är rätt. Räkna om det femte, både storleken och tecknet.",
)
def by_hand_four_right(answer):
    return is_list_of_numbers(answer) and len(answer) == 5 and right_places(answer) == 4


@BY_HAND.mistake(
    "some-right",
    en="Of your 5 numbers at least 1 is right, at most 3. Does each feature have its own γ and β?",
    de="Von deinen 5 Zahlen ist mindestens 1 richtig, höchstens 3. Hat jedes Feature sein eigenes γ und β?",
    sv="Av dina 5 tal är minst 1 rätt, högst 3. Har varje feature sitt eget γ och β?",
)
def by_hand_some_right(answer):
    return is_list_of_numbers(answer) and len(answer) == 5 and right_places(answer) in (1, 2, 3)


# 2 · The function


def layer_norm_cases(randn):
    return [
        {"x": 2 * randn(2, 7, 4) + 3, "gamma": randn(4) + 2, "beta": randn(4) - 1, "eps": 0.1},
        {"x": randn(4, 2, 6) - 2, "gamma": randn(6) - 2, "beta": randn(6) + 1, "eps": 0.3},
    ]


def layer_norm(x, gamma, beta, eps):
    return gamma * standardised(x, eps) + beta


def centred(x):
    return x - x.mean(-1, keepdim=True)


def variance(x):
    return x.var(-1, correction=0, keepdim=True)


def mean_square(x):
    return x.square().mean(-1, keepdim=True)


def standardised(x, eps):
    return centred(x) / (variance(x) + eps).sqrt()


LAYER_NORM = Task("layer-norm", layer_norm, layer_norm_cases, refuses=TORCH_NORMS)


@LAYER_NORM.mistake(
    "unbiased",
    en="Your variance divides by d − 1. Which of the two variances does LayerNorm use?",
    de="Deine Varianz teilt durch d − 1. Welche der beiden Varianzen verwendet LayerNorm?",
    sv="Din varians delar med d − 1. Vilken av de två varianserna använder LayerNorm?",
)
def layer_norm_unbiased(x, gamma, beta, eps):
    return centred(x) / (x.var(-1, keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake(
    "eps-outside",
    en="Your ε is added to the standard deviation. Where does it stand in the formula, and what is its unit?",
    de="Dein ε wird zur Standardabweichung addiert. Wo steht es in der Formel, und welche Einheit hat es?",
    sv="Ditt ε adderas till standardavvikelsen. Var står det i formeln, och vilken enhet har det?",
)
def layer_norm_eps_outside(x, gamma, beta, eps):
    return centred(x) / (x.std(-1, correction=0, keepdim=True) + eps) * gamma + beta


@LAYER_NORM.mistake(
    "unbiased-eps-outside",
    en=(
        "Two things differ from LayerNorm: torch's std divides by something other than d unless it is told "
        "otherwise, and your ε is in another place."
    ),
    de=(
        "Zweierlei weicht von LayerNorm ab: Das std von torch teilt ohne weitere Angabe nicht durch d, und dein ε"
        " steht an einer anderen Stelle."
    ),
    sv=(
        "Två saker skiljer sig från LayerNorm: std i torch delar inte med d om du inte begär det, och ditt ε står"
        " på ett annat ställe."
    ),
)
def layer_norm_unbiased_eps_outside(x, gamma, beta, eps):
    return centred(x) / (x.std(-1, keepdim=True) + eps) * gamma + beta


@LAYER_NORM.mistake(
    "eps-missing",
    en="Your result is the same whatever eps is. Does your function use the eps that it is given?",
    de="Dein Ergebnis ist für jedes eps dasselbe. Verwendet deine Funktion das eps, das sie bekommt?",
    sv="Ditt resultat är detsamma för alla eps. Använder din funktion det eps som den får?",
)
def layer_norm_eps_missing(x, gamma, beta, eps):
    return F.layer_norm(x, x.shape[-1:], gamma, beta, 1e-9)


@LAYER_NORM.mistake(
    "eps-squared",
    en="Your ε is squared before it is added. What is its unit in the formula, that of x or that of the variance?",
    de=(
        "Dein ε wird quadriert, bevor es addiert wird. Welche Einheit hat es in der Formel, die von x oder die "
        "der Varianz?"
    ),
    sv="Ditt ε kvadreras innan det adderas. Vilken enhet har det i formeln, samma som x eller samma som variansen?",
)
def layer_norm_eps_squared(x, gamma, beta, eps):
    return centred(x) / (variance(x) + eps**2).sqrt() * gamma + beta


@LAYER_NORM.mistake("eps-squared")
def layer_norm_eps_squared_unbiased(x, gamma, beta, eps):
    return centred(x) / (x.var(-1, keepdim=True) + eps**2).sqrt() * gamma + beta


@LAYER_NORM.mistake(
    "unbiased-eps-missing",
    en=(
        "Two things differ from LayerNorm: your divisor takes d − 1 where the formula takes d, and it does not "
        "depend on eps."
    ),
    de=(
        "Zweierlei weicht von LayerNorm ab: Dein Nenner rechnet mit d − 1, wo in der Formel d steht, und er hängt"
        " nicht von eps ab."
    ),
    sv=(
        "Två saker skiljer sig från LayerNorm: din nämnare räknar med d − 1 där formeln har d, och den beror inte"
        " på eps."
    ),
)
def layer_norm_unbiased_eps_missing(x, gamma, beta, eps):
    return centred(x) / x.std(-1, keepdim=True) * gamma + beta


@LAYER_NORM.mistake(
    "square-for-root",
    en="With an input twice as large your output becomes much smaller. Look at the exponent in the divisor.",
    de="Bei doppelt so großer Eingabe wird deine Ausgabe viel kleiner. Sieh dir den Exponenten im Nenner an.",
    sv="När indata blir dubbelt så stora blir dina utdata mycket mindre. Titta på exponenten i nämnaren.",
)
def layer_norm_square_for_root(x, gamma, beta, eps):
    return centred(x) / (variance(x) + eps) ** 2 * gamma + beta


@LAYER_NORM.mistake(
    "no-root",
    en=(
        "With an input twice as large your output becomes about half as large. You divide by a variance; what has"
        " the unit of x?"
    ),
    de=(
        "Bei doppelt so großer Eingabe wird deine Ausgabe etwa halb so groß. Du teilst durch eine Varianz; was "
        "hat die Einheit von x?"
    ),
    sv=(
        "När indata blir dubbelt så stora blir dina utdata ungefär hälften så stora. Du delar med en varians; vad"
        " har samma enhet som x?"
    ),
)
def layer_norm_no_root(x, gamma, beta, eps):
    return centred(x) / (variance(x) + eps) * gamma + beta


@LAYER_NORM.mistake("no-root")
def layer_norm_no_root_unbiased(x, gamma, beta, eps):
    return centred(x) / (x.var(-1, keepdim=True) + eps) * gamma + beta


@LAYER_NORM.mistake("no-root")
def layer_norm_no_root_without_eps(x, gamma, beta, eps):
    return centred(x) / variance(x) * gamma + beta


@LAYER_NORM.mistake("no-root")
def layer_norm_no_root_unbiased_without_eps(x, gamma, beta, eps):
    return centred(x) / x.var(-1, keepdim=True) * gamma + beta


@LAYER_NORM.mistake(
    "root-of-the-root",
    en="You take the root of a standard deviation, which is a root already. What stands under the root in the formula?",
    de=(
        "Du ziehst die Wurzel aus einer Standardabweichung, die selbst schon eine Wurzel ist. Was steht in der "
        "Formel unter der Wurzel?"
    ),
    sv="Du drar roten ur en standardavvikelse, som redan är en rot. Vad står under rottecknet i formeln?",
)
def layer_norm_root_of_the_root(x, gamma, beta, eps):
    return centred(x) / (x.std(-1, correction=0, keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("root-of-the-root")
def layer_norm_root_of_the_root_unbiased(x, gamma, beta, eps):
    return centred(x) / (x.std(-1, keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("root-of-the-root")
def layer_norm_root_of_the_root_with_eps(x, gamma, beta, eps):
    return centred(x) / (variance(x) + eps).sqrt().sqrt() * gamma + beta


@LAYER_NORM.mistake("root-of-the-root")
def layer_norm_root_of_the_root_with_eps_unbiased(x, gamma, beta, eps):
    return centred(x) / (x.var(-1, keepdim=True) + eps).sqrt().sqrt() * gamma + beta


@LAYER_NORM.mistake("root-of-the-root")
def layer_norm_root_of_the_root_without_eps(x, gamma, beta, eps):
    return centred(x) / variance(x).sqrt().sqrt() * gamma + beta


@LAYER_NORM.mistake(
    "reciprocal",
    en="Tokens that vary much come out larger than they went in. Do you divide by the root, or by its reciprocal?",
    de=(
        "Token mit großer Streuung kommen größer heraus, als sie hineingingen. Teilst du durch die Wurzel oder "
        "durch ihren Kehrwert?"
    ),
    sv="Token med stor spridning kommer ut större än de gick in. Delar du med roten eller med dess inverterade värde?",
)
def layer_norm_reciprocal(x, gamma, beta, eps):
    return centred(x) * (variance(x) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake(
    "token-axis",
    en=(
        "Your mean and variance run over the tokens of an example, one feature at a time. Which numbers does "
        "LayerNorm average?"
    ),
    de=(
        "Dein Mittelwert und deine Varianz laufen über die Token eines Beispiels, für jedes Feature einzeln. "
        "Welche Zahlen fasst LayerNorm zusammen?"
    ),
    sv=(
        "Ditt medelvärde och din varians tas över alla token i ett exempel, en feature i taget. Vilka tal slår "
        "LayerNorm ihop?"
    ),
)
def layer_norm_token_axis(x, gamma, beta, eps):
    return (x - x.mean(1, keepdim=True)) / (x.var(1, correction=0, keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("token-axis")
def layer_norm_token_axis_unbiased(x, gamma, beta, eps):
    return (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("token-axis")
def layer_norm_token_axis_by_std(x, gamma, beta, eps):
    return (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + eps) * gamma + beta


@LAYER_NORM.mistake(
    "tokens-and-features",
    en="All tokens of an example share one mean and one variance in your function, so each sees the others. May they?",
    de=(
        "In deiner Funktion teilen sich alle Token eines Beispiels einen Mittelwert und eine Varianz, also sieht "
        "jedes die anderen. Darf es das?"
    ),
    sv=(
        "I din funktion delar alla token i ett exempel på ett medelvärde och en varians, så varje token ser de "
        "andra. Får den det?"
    ),
)
def layer_norm_tokens_and_features(x, gamma, beta, eps):
    return (x - x.mean((1, 2), keepdim=True)) / (x.var((1, 2), correction=0, keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("tokens-and-features")
def layer_norm_tokens_and_features_unbiased(x, gamma, beta, eps):
    return (x - x.mean((1, 2), keepdim=True)) / (x.var((1, 2), keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("tokens-and-features")
def layer_norm_tokens_and_features_by_std(x, gamma, beta, eps):
    return (x - x.mean((1, 2), keepdim=True)) / (x.std((1, 2), keepdim=True) + eps) * gamma + beta


@LAYER_NORM.mistake(
    "batchnorm",
    en="Your statistics run over all tokens of all examples. That is another norm of the lesson, not LayerNorm.",
    de=(
        "Deine Statistik läuft über alle Token aller Beispiele. Das ist eine andere Norm aus der Lektion, nicht "
        "LayerNorm."
    ),
    sv="Din statistik beräknas över alla token i alla exempel. Det är en annan av lektionens normer, inte LayerNorm.",
)
def layer_norm_batchnorm(x, gamma, beta, eps):
    return (x - x.mean((0, 1), keepdim=True)) / (x.var((0, 1), correction=0, keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("batchnorm")
def layer_norm_batchnorm_unbiased(x, gamma, beta, eps):
    return (x - x.mean((0, 1), keepdim=True)) / (x.var((0, 1), keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("batchnorm")
def layer_norm_batchnorm_by_std(x, gamma, beta, eps):
    return (x - x.mean((0, 1), keepdim=True)) / (x.std((0, 1), keepdim=True) + eps) * gamma + beta


@LAYER_NORM.mistake(
    "over-examples",
    en="Your mean and variance run over the examples of the batch. What would come out for an example that is alone?",
    de=(
        "Dein Mittelwert und deine Varianz laufen über die Beispiele des Batches. Was käme heraus, wenn ein "
        "Beispiel allein ist?"
    ),
    sv=(
        "Ditt medelvärde och din varians tas över exemplen i batchen. Vad skulle komma ut för ett exempel som är "
        "ensamt?"
    ),
)
def layer_norm_over_examples(x, gamma, beta, eps):
    return (x - x.mean(0)) / (x.var(0, correction=0) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("over-examples")
def layer_norm_over_examples_unbiased(x, gamma, beta, eps):
    return (x - x.mean(0)) / (x.var(0) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake(
    "whole-tensor",
    en="You compute one single mean for the whole tensor. How many means do B · T tokens need?",
    de="Du berechnest einen einzigen Mittelwert für den ganzen Tensor. Wie viele Mittelwerte brauchen B · T Token?",
    sv="Du beräknar ett enda medelvärde för hela tensorn. Hur många medelvärden behöver B · T token?",
)
def layer_norm_whole_tensor(x, gamma, beta, eps):
    return (x - x.mean()) / (x.var(correction=0) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("whole-tensor")
def layer_norm_whole_tensor_unbiased(x, gamma, beta, eps):
    return (x - x.mean()) / (x.var() + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("whole-tensor")
def layer_norm_whole_tensor_by_std(x, gamma, beta, eps):
    return (x - x.mean()) / (x.std() + eps) * gamma + beta


@LAYER_NORM.mistake(
    "one-variance",
    en=(
        "Every token has a mean of its own in your function, but all share one variance. Along which axis do you "
        "average the squares?"
    ),
    de=(
        "Bei dir hat jedes Token seinen eigenen Mittelwert, aber alle teilen sich eine Varianz. Entlang welcher "
        "Achse mittelst du die Quadrate?"
    ),
    sv=(
        "Hos dig har varje token sitt eget medelvärde, men alla delar på en varians. Längs vilken axel tar du "
        "medelvärdet av kvadraterna?"
    ),
)
def layer_norm_one_variance(x, gamma, beta, eps):
    return centred(x) / (centred(x).square().mean() + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("one-variance")
def layer_norm_one_variance_of_all_numbers(x, gamma, beta, eps):
    return centred(x) / (x.var(correction=0) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("one-variance")
def layer_norm_one_variance_of_all_numbers_unbiased(x, gamma, beta, eps):
    return centred(x) / (x.var() + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake(
    "rms-norm",
    en="Your output moves when 5 is added to every feature, so the mean is still in it. This is the norm of lesson 2.",
    de=(
        "Deine Ausgabe ändert sich, wenn zu jedem Feature 5 addiert wird: Der Mittelwert steckt noch darin. Das "
        "ist die Norm aus Lektion 2."
    ),
    sv=(
        "Dina utdata ändras när 5 adderas till varje feature, så medelvärdet finns kvar i dem. Det är normen i "
        "lektion 2."
    ),
)
def layer_norm_rms_norm(x, gamma, beta, eps):
    return x / (mean_square(x) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake(
    "mean-square-for-variance",
    en=(
        "The numerator is centred, but the divisor still grows with the mean of x. Of which numbers do you take "
        "the squares?"
    ),
    de=(
        "Im Zähler ist der Mittelwert abgezogen, aber der Nenner wächst noch mit dem Mittelwert von x. Welche "
        "Zahlen quadrierst du?"
    ),
    sv="Täljaren är centrerad, men nämnaren växer fortfarande med medelvärdet av x. Vilka tal kvadrerar du?",
)
def layer_norm_mean_square_for_variance(x, gamma, beta, eps):
    return centred(x) / (mean_square(x) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake(
    "numerator-not-centred",
    en="Without γ and β your tokens would not have mean 0. The variance is right; look at what it divides.",
    de=(
        "Ohne γ und β hätten deine Token nicht den Mittelwert 0. Die Varianz stimmt; sieh dir an, was durch ihre "
        "Wurzel geteilt wird."
    ),
    sv="Utan γ och β skulle dina token inte ha medelvärdet 0. Variansen stämmer; titta på det som delas med dess rot.",
)
def layer_norm_numerator_not_centred(x, gamma, beta, eps):
    return x / (variance(x) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake(
    "brackets-missing",
    en=(
        "You divide only the mean by the root. Which operation does Python carry out first, and where are "
        "brackets needed?"
    ),
    de=(
        "Du teilst nur den Mittelwert durch die Wurzel. Welche Rechnung führt Python zuerst aus, und wo sind "
        "Klammern nötig?"
    ),
    sv="Du delar bara medelvärdet med roten. Vilken räkneoperation utför Python först, och var behövs parenteser?",
)
def layer_norm_brackets_missing(x, gamma, beta, eps):
    return gamma * x - x.mean(-1, keepdim=True) / (variance(x) + eps).sqrt() + beta


@LAYER_NORM.mistake("brackets-missing")
def layer_norm_brackets_missing_gain_outside(x, gamma, beta, eps):
    return gamma * (x - x.mean(-1, keepdim=True) / (variance(x) + eps).sqrt()) + beta


@LAYER_NORM.mistake(
    "unit-length",
    en="Without γ and β your tokens would have length 1. How long is a vector of d features with variance 1?",
    de="Ohne γ und β hätten deine Token die Länge 1. Welche Länge hat ein Vektor aus d Features mit der Varianz 1?",
    sv="Utan γ och β skulle dina token ha längden 1. Vilken längd har en vektor av d features med variansen 1?",
)
def layer_norm_unit_length(x, gamma, beta, eps):
    return F.normalize(x - x.mean(-1, keepdim=True), dim=-1) * gamma + beta


@LAYER_NORM.mistake(
    "sum-of-squares",
    en="The more features there are, the smaller your output gets. A variance is a mean, not a sum.",
    de="Je mehr Features es gibt, desto kleiner wird deine Ausgabe. Eine Varianz ist ein Mittelwert, keine Summe.",
    sv="Ju fler features det finns, desto mindre blir dina utdata. En varians är ett medelvärde, inte en summa.",
)
def layer_norm_sum_of_squares(x, gamma, beta, eps):
    return centred(x) / (variance(x) * x.shape[-1] + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake(
    "no-gain-no-bias",
    en="Every token of your result has mean 0. Two of the inputs have not been used yet.",
    de="In deinem Ergebnis hat jedes Token den Mittelwert 0. Zwei der Eingaben kommen noch nicht vor.",
    sv="Varje token i ditt resultat har medelvärdet 0. Två av argumenten har inte använts än.",
)
def layer_norm_no_gain_no_bias(x, gamma, beta, eps):
    return standardised(x, eps)


@LAYER_NORM.mistake("no-gain-no-bias")
def layer_norm_no_gain_no_bias_unbiased(x, gamma, beta, eps):
    return centred(x) / (x.var(-1, keepdim=True) + eps).sqrt()


@LAYER_NORM.mistake("no-gain-no-bias")
def layer_norm_no_gain_no_bias_by_std(x, gamma, beta, eps):
    return centred(x) / (x.std(-1, keepdim=True) + eps)


@LAYER_NORM.mistake(
    "no-gain",
    en="Another gain γ would not change your result. Where does γ enter?",
    de="Eine andere Skalierung γ würde an deinem Ergebnis nichts ändern. Wo kommt γ ins Spiel?",
    sv="En annan skalning γ skulle inte ändra ditt resultat. Var kommer γ in?",
)
def layer_norm_no_gain(x, gamma, beta, eps):
    return F.layer_norm(x, x.shape[-1:], None, beta, eps)


@LAYER_NORM.mistake(
    "no-bias",
    en="Another bias β would not change your result. Where does β enter?",
    de="Ein anderer Bias β würde an deinem Ergebnis nichts ändern. Wo kommt β ins Spiel?",
    sv="En annan bias β skulle inte ändra ditt resultat. Var kommer β in?",
)
def layer_norm_no_bias(x, gamma, beta, eps):
    return F.layer_norm(x, x.shape[-1:], gamma, None, eps)


@LAYER_NORM.mistake(
    "bias-before-gain",
    en="A token of equal numbers should come out as β. Yours comes out as γ ⊙ β.",
    de="Ein Token aus lauter gleichen Zahlen soll als β herauskommen. Bei dir kommt γ ⊙ β heraus.",
    sv="En token där alla tal är lika ska komma ut som β. Hos dig kommer γ ⊙ β ut.",
)
def layer_norm_bias_before_gain(x, gamma, beta, eps):
    return gamma * (standardised(x, eps) + beta)


@LAYER_NORM.mistake(
    "gain-and-bias-exchanged",
    en="A token of equal numbers comes out as γ in your function. Which of γ and β is the factor, and which is added?",
    de=(
        "Ein Token aus lauter gleichen Zahlen kommt bei dir als γ heraus. Was von γ und β ist der Faktor, und was"
        " wird addiert?"
    ),
    sv="En token där alla tal är lika kommer ut som γ hos dig. Vilket av γ och β är faktorn, och vilket adderas?",
)
def layer_norm_gain_and_bias_exchanged(x, gamma, beta, eps):
    return beta * standardised(x, eps) + gamma


@LAYER_NORM.mistake("gain-and-bias-exchanged")
def layer_norm_gain_and_bias_exchanged_unbiased(x, gamma, beta, eps):
    return beta * centred(x) / (x.var(-1, keepdim=True) + eps).sqrt() + gamma


@LAYER_NORM.mistake(
    "scaled-before",
    en=(
        "You have scaled and shifted first and normalised afterwards, so every token has mean 0 again at the end."
        " What is the order in the formula?"
    ),
    de=(
        "Du hast erst skaliert und verschoben und dann normalisiert, also hat am Ende jedes Token wieder den "
        "Mittelwert 0. Welche Reihenfolge hat die Formel?"
    ),
    sv=(
        "Du har först skalat och förskjutit och sedan normaliserat, så till slut har varje token medelvärdet 0 "
        "igen. Vilken ordning har formeln?"
    ),
)
def layer_norm_scaled_before(x, gamma, beta, eps):
    return F.layer_norm(gamma * x + beta, x.shape[-1:], eps=eps)


@LAYER_NORM.mistake(
    "one-plus-gain",
    en=(
        "With γ = 0 your output would still depend on x. Some models store their gain that way; here γ is the "
        "factor itself."
    ),
    de=(
        "Mit γ = 0 hinge deine Ausgabe immer noch von x ab. Manche Modelle speichern ihre Skalierung so, dass 0 "
        "nichts ändert; hier ist γ selbst der Faktor."
    ),
    sv=(
        "Med γ = 0 skulle dina utdata fortfarande bero på x. Vissa modeller lagrar sin skalning på det sättet; "
        "här är γ själva faktorn."
    ),
)
def layer_norm_one_plus_gain(x, gamma, beta, eps):
    return F.layer_norm(x, x.shape[-1:], 1 + gamma, beta, eps)


# 3 · Which axis?

WHICH_AXIS = Task("which-axis", right=[(3, 5, 1), (1, 1, 4), (3, 1, 1)])  # x has the shape (3, 5, 4)


WHICH_AXIS.wrong_values(
    "shares-not-statistics",
    [(1, 1, 4), (3, 5, 1), (1, 5, 4)],
    en="These are the boxes of numbers that share one mean. How many such boxes are there, and how many means?",
    de=(
        "Das sind die Maße der Quader, deren Zahlen sich einen Mittelwert teilen. Wie viele solche Quader gibt "
        "es, und wie viele Mittelwerte?"
    ),
    sv=(
        "Det här är måtten på de rätblock av tal som har ett gemensamt medelvärde. Hur många sådana rätblock "
        "finns det, och hur många medelvärden?"
    ),
)


WHICH_AXIS.wrong_values(
    "swapped",
    [(1, 1, 4), (3, 5, 1), (3, 1, 1)],
    en=(
        "Your first norm has one mean for each feature, your second one for each token. Which of them looks at "
        "one token at a time?"
    ),
    de=(
        "Deine erste Norm hat für jedes Feature einen Mittelwert, deine zweite für jedes Token. Welche der beiden"
        " sieht sich immer nur ein Token an?"
    ),
    sv=(
        "Din första norm har ett medelvärde för varje feature, din andra ett för varje token. Vilken av dem ser "
        "bara på en token i taget?"
    ),
)


WHICH_AXIS.wrong_values(
    "order",
    [(3, 5, 1), (3, 1, 1), (1, 1, 4)],
    [(1, 1, 4), (3, 1, 1), (3, 5, 1)],
    [(3, 1, 1), (3, 5, 1), (1, 1, 4)],
    [(3, 1, 1), (1, 1, 4), (3, 5, 1)],
    en=(
        "These three shapes are the right ones, but in another order. How many means does each of the three norms"
        " compute?"
    ),
    de=(
        "Diese drei Formen sind die richtigen, aber in anderer Reihenfolge. Wie viele Mittelwerte berechnet jede "
        "der drei Normen?"
    ),
    sv=(
        "De här tre formerna är rätt, men i en annan ordning. Hur många medelvärden beräknar var och en av de tre"
        " normerna?"
    ),
)


WHICH_AXIS.wrong_values(
    "no-keepdim",
    [(3, 5), (4,), (3,)],
    [(3, 5), 4, 3],
    en="The axes are right, but they are gone, as without keepdim=True. Would x − μ still subtract the right numbers?",
    de=(
        "Du mittelst über die richtigen Achsen, aber danach fehlen sie, wie ohne keepdim=True. Würde x − μ noch "
        "die richtigen Zahlen abziehen?"
    ),
    sv=(
        "Du har valt rätt axlar, men de har försvunnit, som utan keepdim=True. Skulle x − μ fortfarande dra ifrån"
        " rätt tal?"
    ),
)


WHICH_AXIS.wrong_values(
    "layernorm-over-tokens-and-features",
    [(3, 1, 1), (1, 1, 4), (3, 1, 1)],
    en=(
        "Your LayerNorm has one mean for a whole example, like the third norm. What would token 0 then know of "
        "the last token?"
    ),
    de=(
        "Deine LayerNorm hat einen Mittelwert für ein ganzes Beispiel, wie die dritte Norm. Was wüsste Token 0 "
        "dann vom letzten Token?"
    ),
    sv=(
        "Din LayerNorm har ett medelvärde för ett helt exempel, som den tredje normen. Vad skulle token 0 då veta"
        " om den sista tokenen?"
    ),
)


WHICH_AXIS.wrong_values(
    "layernorm-over-tokens",
    [(3, 1, 4), (1, 1, 4), (3, 1, 1)],
    [(1, 1, 4), (1, 1, 4), (3, 1, 1)],
    [(1, 1, 1), (1, 1, 4), (3, 1, 1)],
    en=(
        "Your LayerNorm averages over the tokens. Look again at the coloured boxes of the lesson: along which "
        "axis does LayerNorm's lie?"
    ),
    de=(
        "Deine LayerNorm mittelt über die Token. Sieh dir die farbigen Quader der Lektion noch einmal an: Entlang"
        " welcher Achse liegt der für LayerNorm?"
    ),
    sv=(
        "Din LayerNorm tar medelvärdet över alla token. Titta igen på lektionens färgade rätblock: längs vilken "
        "axel ligger LayerNorms?"
    ),
)


WHICH_AXIS.wrong_values(
    "batchnorm-over-examples",
    [(3, 5, 1), (1, 5, 4), (3, 1, 1)],
    en=(
        "Your BatchNorm averages over the examples only and keeps every position apart. The one of the lesson has"
        " one mean for each feature."
    ),
    de=(
        "Deine BatchNorm mittelt nur über die Beispiele und hält die Positionen auseinander. Die aus der Lektion "
        "hat für jedes Feature einen Mittelwert."
    ),
    sv=(
        "Din BatchNorm tar medelvärdet bara över exemplen och håller isär positionerna. Lektionens har ett "
        "medelvärde för varje feature."
    ),
)


WHICH_AXIS.wrong_values(
    "batchnorm-within-an-example",
    [(3, 5, 1), (3, 1, 4), (3, 1, 1)],
    [(3, 5, 1), (3, 5, 1), (3, 1, 1)],
    [(3, 5, 1), (3, 1, 1), (3, 1, 1)],
    en="Your BatchNorm keeps the examples apart. What does its name say?",
    de="Deine BatchNorm hält die Beispiele auseinander. Was sagt ihr Name?",
    sv="Din BatchNorm håller isär exemplen. Vad säger namnet?",
)


WHICH_AXIS.wrong_values(
    "batchnorm-over-everything",
    [(3, 5, 1), (1, 1, 1), (3, 1, 1)],
    [(3, 5, 1), (1, 5, 1), (3, 1, 1)],
    en="Your BatchNorm has a single mean for all features. Would it still tell the features apart?",
    de=(
        "Deine BatchNorm hat einen einzigen Mittelwert für alle Features. Könnte sie die Features damit noch "
        "auseinanderhalten?"
    ),
    sv="Din BatchNorm har ett enda medelvärde för alla features. Skulle den fortfarande hålla isär features?",
)


WHICH_AXIS.wrong_values(
    "both-over-everything",
    [(3, 5, 1), (1, 1, 4), (1, 1, 1)],
    [(3, 5, 1), (1, 1, 4), (1, 1, 4)],
    [(3, 5, 1), (1, 1, 4), (1, 5, 1)],
    en="Your third norm averages over the examples as well. Which axes does its argument name?",
    de="Deine dritte Norm mittelt auch über die Beispiele. Welche Achsen nennt ihr Argument?",
    sv="Din tredje norm tar medelvärdet även över exemplen. Vilka axlar nämner dess argument?",
)


WHICH_AXIS.wrong_values(
    "both-kept",
    [(3, 5, 1), (1, 1, 4), (1, 5, 4)],
    en=(
        "Your third norm averages over the examples and keeps tokens and features. Does the argument of "
        "nn.LayerNorm name the axes that stay or those that are averaged?"
    ),
    de=(
        "Deine dritte Norm mittelt über die Beispiele und behält Token und Features. Nennt das Argument von "
        "nn.LayerNorm die Achsen, die bleiben, oder die, über die gemittelt wird?"
    ),
    sv=(
        "Din tredje norm tar medelvärdet över exemplen och behåller token och features. Nämner argumentet till "
        "nn.LayerNorm de axlar som blir kvar eller de som medelvärdet tas över?"
    ),
)


WHICH_AXIS.wrong_values(
    "third-like-the-first",
    [(3, 5, 1), (1, 1, 4), (3, 5, 1)],
    en="Your third norm computes one mean for each token, like the first. Which axes does its argument name?",
    de="Deine dritte Norm berechnet für jedes Token einen Mittelwert, wie die erste. Welche Achsen nennt ihr Argument?",
    sv="Din tredje norm beräknar ett medelvärde för varje token, som den första. Vilka axlar nämner dess argument?",
)


WHICH_AXIS.wrong_values(
    "shapes-of-the-gain",
    [(4,), (4,), (5, 4)],
    en="These are the shapes of γ. The question is about μ, which is not learned but computed anew for every x.",
    de="Das sind die Formen von γ. Gefragt ist nach μ, das nicht gelernt, sondern für jedes x neu berechnet wird.",
    sv="Det här är formerna på γ. Frågan gäller μ, som inte lärs in utan beräknas på nytt för varje x.",
)


WHICH_AXIS.wrong_values(
    "counts",
    [4, 15, 20],
    en=(
        "You have counted the numbers that share one mean, and counted right. The question is which shape the "
        "tensor of all means has."
    ),
    de=(
        "Du hast gezählt, wie viele Zahlen sich einen Mittelwert teilen, und richtig gezählt. Gefragt ist, welche"
        " Form der Tensor aller Mittelwerte hat."
    ),
    sv=(
        "Du har räknat hur många tal som har ett gemensamt medelvärde, och räknat rätt. Frågan är vilken form "
        "tensorn med alla medelvärden har."
    ),
)


WHICH_AXIS.wrong_values(
    "axes",
    [2, (0, 1), (1, 2)],
    [-1, (0, 1), (1, 2)],
    [(2,), (0, 1), (1, 2)],
    [(-1,), (0, 1), (1, 2)],
    [-1, (0, 1), (-2, -1)],
    [(-1,), (0, 1), (-2, -1)],
    en="These are the axes over which the norms average, and they are right. The question is which shape is left.",
    de="Das sind die Achsen, über die die Normen mitteln, und sie stimmen. Gefragt ist, welche Form übrig bleibt.",
    sv="Det här är axlarna som normerna tar medelvärdet över, och de är rätt. Frågan är vilken form som blir kvar.",
)


WHICH_AXIS.wrong_values(
    "one-list",
    [3, 5, 1, 1, 1, 4, 3, 1, 1],
    en="Your nine numbers are right. Put each norm's three into a tuple of their own.",
    de="Deine neun Zahlen stimmen. Fasse die drei Zahlen jeder Norm zu einem eigenen Tupel zusammen.",
    sv="Dina nio tal är rätt. Samla varje norms tre tal i en egen tupel.",
)


WHICH_AXIS.wrong_values(
    "text",
    ["(3, 5, 1)", "(1, 1, 4)", "(3, 1, 1)"],
    ["(3,5,1)", "(1,1,4)", "(3,1,1)"],
    "[(3, 5, 1), (1, 1, 4), (3, 1, 1)]",
    en="Your three shapes are right, but they are text. Leave out the quotation marks.",
    de="Deine drei Formen stimmen, sind aber Text. Lass die Anführungszeichen weg.",
    sv="Dina tre former är rätt, men de är text. Ta bort citattecknen.",
)


WHICH_AXIS.wrong_values(
    "layernorm-and-batchnorm",
    [(3, 1, 1), (1, 5, 4), (3, 1, 1)],
    en="Two of them are wrong: your LayerNorm mixes the tokens of an example, and your BatchNorm keeps them apart.",
    de=(
        "Zwei davon stimmen nicht: Deine LayerNorm vermischt die Token eines Beispiels, und deine BatchNorm hält "
        "sie auseinander."
    ),
    sv="Två av dem stämmer inte: din LayerNorm blandar alla token i ett exempel, och din BatchNorm håller isär dem.",
)


WHICH_AXIS.wrong_values(
    "averaged-axes-kept",
    [(1, 1, 4), (1, 1, 4), (1, 5, 4)],
    en=(
        "Your second shape is right. In the other two the axes that are averaged over keep their size, and the "
        "others have become 1."
    ),
    de=(
        "Deine zweite Form stimmt. In den beiden anderen behalten die gemittelten Achsen ihre Größe, und die "
        "übrigen sind 1 geworden."
    ),
    sv=(
        "Din andra form stämmer. I de två andra behåller de axlar som medelvärdet tas över sin storlek, och de "
        "övriga har blivit 1."
    ),
)


@WHICH_AXIS.mistake(
    "not-averaged",
    en="(3, 5, 4) is the shape of x: nothing has been averaged there. Which axes become 1?",
    de="(3, 5, 4) ist die Form von x: Dort wurde nichts gemittelt. Welche Achsen werden zu 1?",
    sv="(3, 5, 4) är formen på x: där har inget medelvärde tagits. Vilka axlar blir 1?",
)
def which_axis_not_averaged(answer):
    return isinstance(answer, list) and [3, 5, 4] in answer


@WHICH_AXIS.mistake(
    "other-text",
    en="Your answer is text. Leave out the quotation marks: a shape is a tuple of three numbers.",
    de="Deine Antwort ist Text. Lass die Anführungszeichen weg: Eine Form ist ein Tupel aus drei Zahlen.",
    sv="Ditt svar är text. Ta bort citattecknen: en form är en tupel med tre tal.",
)
def which_axis_other_text(answer):
    return holds_text(answer)


@WHICH_AXIS.mistake(
    "not-three-tuples",
    en="Write one shape for each of the three norms: a list of three tuples, each with three numbers.",
    de="Schreib für jede der drei Normen eine Form: eine Liste aus drei Tupeln mit je drei Zahlen.",
    sv="Skriv en form för var och en av de tre normerna: en lista med tre tupler, var och en med tre tal.",
)
def which_axis_not_three_tuples(answer):
    if not isinstance(answer, list):
        return True
    return len(answer) == 3 and all(isinstance(one, int) for one in answer)


# 4 · Measure the leak


def batch_norm(x):
    """Return BatchNorm over positions, in training mode, of x of shape (B, T, d)."""
    return F.batch_norm(x.transpose(1, 2), None, None, training=True).transpose(1, 2)


def norm_of_each_token(x):
    return F.layer_norm(x, x.shape[-1:])


def norm_of_each_example(x):
    return F.layer_norm(x, x.shape[1:])


def leak_cases(randn):
    return [
        {"norm": batch_norm, "x": 2 * randn(2, 7, 4) + 3, "last": 2 * randn(4) - 3},
        {"norm": norm_of_each_token, "x": 2 * randn(2, 7, 4) + 3, "last": 2 * randn(4) - 3},
        {"norm": norm_of_each_example, "x": randn(2, 3, 6) - 1, "last": 3 * randn(6)},
    ]


def leak(norm, x, last):
    return movement(norm, x, last)[:, 0].norm(dim=-1)


def with_last(x, last):
    """Return x with another last token in every example."""
    return torch.cat([x[:, :-1], last.expand(len(x), 1, -1)], 1)


def movement(norm, x, last):
    """Return by how much the output of the norm changes when the last token does, of shape (B, T, d)."""
    return norm(with_last(x, last)) - norm(x)


LEAK = Task("leak", leak, leak_cases)


@LEAK.mistake(
    "always-zero",
    en=(
        "Your function returns 0 even for BatchNorm. Does the norm see the last token, the old one and the new "
        "one, in the same call as token 0?"
    ),
    de=(
        "Deine Funktion liefert selbst für BatchNorm 0. Bekommt die Norm das letzte Token, das alte und das neue,"
        " im selben Aufruf wie Token 0?"
    ),
    sv=(
        "Din funktion ger 0 även för BatchNorm. Får normen se den sista tokenen, den gamla och den nya, i samma "
        "anrop som token 0?"
    ),
)
def leak_always_zero(norm, x, last):
    return torch.zeros(len(x))


@LEAK.mistake(
    "one-example-at-a-time",
    en="You give the norm one example at a time. BatchNorm takes its mean over all of them: give it the whole tensor.",
    de="Du gibst der Norm immer nur ein Beispiel. BatchNorm mittelt über alle: Gib ihr den ganzen Tensor.",
    sv="Du ger normen ett exempel i taget. BatchNorm tar medelvärdet över alla: ge den hela tensorn.",
)
def leak_one_example_at_a_time(norm, x, last):
    return torch.cat([norm(b) - norm(a) for a, b in zip(x.split(1), with_last(x, last).split(1))])[:, 0].norm(dim=-1)


@LEAK.mistake(
    "last-token-measured",
    en="You have measured how far the last token moves. It may move: it has been replaced. Whose movement is a leak?",
    de=(
        "Du hast gemessen, wie stark sich die Ausgabe für das letzte Token ändert. Das darf sie: Es wurde ja "
        "ausgetauscht. Bei welchem Token wäre es ein Leck?"
    ),
    sv=(
        "Du har mätt hur långt den sista tokenen flyttas. Det får den: den har ju bytts ut. För vilken token vore"
        " det ett läckage?"
    ),
)
def leak_last_token_measured(norm, x, last):
    return movement(norm, x, last)[:, -1].norm(dim=-1)


@LEAK.mistake(
    "first-token-changed",
    en="You have replaced the token whose movement you measure. That it moves says nothing about the future.",
    de="Du hast das Token ausgetauscht, dessen Ausgabe du misst. Dass sie sich ändert, sagt nichts über die Zukunft.",
    sv="Du har bytt ut just den token som du mäter. Att den flyttas säger inget om framtiden.",
)
def leak_first_token_changed(norm, x, last):
    return (norm(torch.cat([last.expand(len(x), 1, -1), x[:, 1:]], 1)) - norm(x))[:, 0].norm(dim=-1)


@LEAK.mistake(
    "last-example-changed",
    en="You have replaced every token of the last example. Which axis of x counts the tokens?",
    de="Du hast alle Token des letzten Beispiels ausgetauscht. Welche Achse von x zählt die Token?",
    sv="Du har bytt ut alla token i det sista exemplet. Vilken axel i x räknar token?",
)
def leak_last_example_changed(norm, x, last):
    return (norm(torch.cat([x[:-1], last.expand(1, x.shape[1], -1)])) - norm(x))[:, 0].norm(dim=-1)


@LEAK.mistake(
    "example-0-measured",
    en="Your result holds example 0 only. In an index, which place belongs to the example and which to the token?",
    de="Dein Ergebnis enthält nur Beispiel 0. Welche Stelle eines Index gehört zum Beispiel, welche zum Token?",
    sv="Ditt resultat gäller bara exempel 0. Vilken plats i ett index hör till exemplet och vilken till tokenen?",
)
def leak_example_0_measured(norm, x, last):
    return movement(norm, x, last)[0].norm(dim=-1)


@LEAK.mistake("example-0-measured")
def leak_example_0_measured_as_a_number(norm, x, last):
    return movement(norm, x, last)[0, 0].norm()


@LEAK.mistake("example-0-measured")
def leak_example_0_measured_for_all_examples(norm, x, last):
    return movement(norm, x, last)[0, 0].norm().expand(len(x))


@LEAK.mistake("example-0-measured")
def leak_example_0_measured_as_a_list(norm, x, last):
    return movement(norm, x, last)[0, :1].norm(dim=-1)


@LEAK.mistake(
    "example-0-changed",
    en="You have replaced the last token of example 0 only. The task asks for it in every example.",
    de="Du hast das letzte Token nur in Beispiel 0 ersetzt. Die Aufgabe verlangt es in jedem Beispiel.",
    sv="Du har bara bytt ut den sista tokenen i exempel 0. Uppgiften kräver det i varje exempel.",
)
def leak_example_0_changed(norm, x, last):
    return (norm(torch.cat([torch.cat([x[:1, :-1], last[None, None]], 1), x[1:]])) - norm(x))[:, 0].norm(dim=-1)


@LEAK.mistake(
    "added",
    en="The new last token of your experiment is the sum of the old one and last. In the task last takes its place.",
    de=(
        "In deinem Experiment ist das neue letzte Token die Summe aus dem alten und last. In der Aufgabe tritt "
        "last an seine Stelle."
    ),
    sv=(
        "I ditt experiment är den nya sista tokenen summan av den gamla och last. I uppgiften ska last stå på "
        "dess plats."
    ),
)
def leak_added(norm, x, last):
    return (norm(torch.cat([x[:, :-1], x[:, -1:] + last], 1)) - norm(x))[:, 0].norm(dim=-1)


@LEAK.mistake(
    "appended",
    en=(
        "You put last behind the last token, so that each example becomes longer by one. In the task it takes "
        "that token's place."
    ),
    de=(
        "Du hängst last hinter das letzte Token, sodass jedes Beispiel um eins länger wird. In der Aufgabe tritt "
        "es an dessen Stelle."
    ),
    sv=(
        "Du lägger last efter den sista tokenen, så att varje exempel blir en token längre. I uppgiften tar den "
        "dess plats."
    ),
)
def leak_appended(norm, x, last):
    return (norm(torch.cat([x, last.expand(len(x), 1, -1)], 1)) - F.pad(norm(x), (0, 0, 0, 1)))[:, 0].norm(dim=-1)


@LEAK.mistake(
    "feature-0",
    en="You have taken feature 0 of all tokens. Which axis of the output counts the tokens?",
    de="Du hast Feature 0 aller Token genommen. Welche Achse der Ausgabe zählt die Token?",
    sv="Du har tagit feature 0 hos alla token. Vilken axel i utdata räknar token?",
)
def leak_feature_0(norm, x, last):
    return movement(norm, x, last)[..., 0].norm(dim=-1)


@LEAK.mistake(
    "all-tokens",
    en=(
        "Your result contains the movement of all tokens, and is not 0 for LayerNorm: the token you replaced is "
        "among them."
    ),
    de=(
        "In deinem Ergebnis steckt die Änderung aller Token, und für LayerNorm ist es nicht 0: Das ausgetauschte "
        "ist mit dabei."
    ),
    sv=(
        "I ditt resultat ingår förflyttningen av alla token, och med LayerNorm blir det inte 0, eftersom den "
        "utbytta tokenen är med."
    ),
)
def leak_all_tokens(norm, x, last):
    return movement(norm, x, last).norm(dim=(1, 2))


@LEAK.mistake(
    "input-for-output",
    en=(
        "You compare a token after the norm with a token before it. That measures what the norm does, not what it"
        " leaks."
    ),
    de=(
        "Du vergleichst ein Token nach der Norm mit einem Token vor ihr. Das misst, was die Norm tut, und nicht, "
        "was durch sie hindurchsickert."
    ),
    sv="Du jämför en token efter normen med en token före den. Det mäter vad normen gör, inte vad den läcker.",
)
def leak_input_for_output(norm, x, last):
    return (norm(with_last(x, last)) - x)[:, 0].norm(dim=-1)


@LEAK.mistake(
    "difference-of-lengths",
    en="You compare the lengths of the two outputs. A vector that turns keeps its length: has it not moved?",
    de=(
        "Du vergleichst die Längen der beiden Ausgaben. Ein Vektor, der sich dreht, behält seine Länge: Hat er "
        "sich nicht bewegt?"
    ),
    sv="Du jämför hur långa utdata är de två gångerna. En vektor som vrids behåller sin längd: har den inte flyttats?",
)
def leak_difference_of_lengths(norm, x, last):
    return (norm(with_last(x, last))[:, 0].norm(dim=-1) - norm(x)[:, 0].norm(dim=-1)).abs()


@LEAK.mistake(
    "squared",
    en="Your result is the square of a length. Which step is missing?",
    de="Dein Ergebnis ist das Quadrat einer Länge. Welcher Schritt fehlt?",
    sv="Ditt resultat är kvadraten på en längd. Vilket steg saknas?",
)
def leak_squared(norm, x, last):
    return movement(norm, x, last)[:, 0].square().sum(-1)


@LEAK.mistake(
    "root-of-the-root",
    en="Your result is the root of a length. A length (L2 norm) holds one root; how many do you take?",
    de=(
        "Dein Ergebnis ist die Wurzel aus einer Länge. In einer Länge (L2-Norm) steckt eine Wurzel; wie viele "
        "ziehst du?"
    ),
    sv="Ditt resultat är roten ur en längd. I en längd (L2-norm) finns en rot; hur många drar du?",
)
def leak_root_of_the_root(norm, x, last):
    return movement(norm, x, last)[:, 0].norm(dim=-1).sqrt()


@LEAK.mistake(
    "root-mean-square",
    en="Your result is the root mean square of the differences. How is the length of a vector (L2 norm) computed?",
    de=(
        "Dein Ergebnis ist das quadratische Mittel der Differenzen. Wie berechnet man die Länge eines Vektors "
        "(L2-Norm)?"
    ),
    sv="Ditt resultat är det kvadratiska medelvärdet av skillnaderna. Hur beräknas längden av en vektor (L2-norm)?",
)
def leak_root_mean_square(norm, x, last):
    return movement(norm, x, last)[:, 0].square().mean(-1).sqrt()


@LEAK.mistake(
    "signed-sum",
    en="You have added up the differences with their signs, so that they partly cancel. A distance is never negative.",
    de=(
        "Du hast die Differenzen mit ihren Vorzeichen addiert, sodass sie sich teilweise aufheben. Ein Abstand "
        "ist nie negativ."
    ),
    sv="Du har summerat skillnaderna med tecken, så att de delvis tar ut varandra. Ett avstånd är aldrig negativt.",
)
def leak_signed_sum(norm, x, last):
    return movement(norm, x, last)[:, 0].sum(-1)


@LEAK.mistake(
    "absolute-sum",
    en="You have added up the absolute differences (L1 norm). The task asks for the L2 norm.",
    de="Du hast die Beträge der Differenzen addiert (L1-Norm). Gefragt ist die L2-Norm.",
    sv="Du har summerat skillnadernas absolutbelopp (L1-norm). Uppgiften frågar efter L2-normen.",
)
def leak_absolute_sum(norm, x, last):
    return movement(norm, x, last)[:, 0].abs().sum(-1)


@LEAK.mistake(
    "largest",
    en="Your result is the largest difference in one feature. How far does the whole vector move?",
    de="Dein Ergebnis ist die größte Differenz in einem einzelnen Feature. Wie weit bewegt sich der ganze Vektor?",
    sv="Ditt resultat är den största skillnaden i en enda feature. Hur långt flyttas hela vektorn?",
)
def leak_largest(norm, x, last):
    return movement(norm, x, last)[:, 0].abs().amax(-1)


@LEAK.mistake(
    "mean-absolute",
    en=(
        "Your result is the mean of the absolute differences. The task asks for the length of the vector of "
        "differences."
    ),
    de="Dein Ergebnis ist der Mittelwert der Beträge der Differenzen. Gefragt ist die Länge des Differenzvektors.",
    sv="Ditt resultat är medelvärdet av skillnadernas absolutbelopp. Uppgiften frågar efter skillnadsvektorns längd.",
)
def leak_mean_absolute(norm, x, last):
    return movement(norm, x, last)[:, 0].abs().mean(-1)


@LEAK.mistake(
    "length-for-movement",
    en="You measure how long the output is, not how far it moves. Which two outputs do you have to compare?",
    de=(
        "Du misst, wie lang die Ausgabe ist, und nicht, wie weit sie sich bewegt. Welche beiden Ausgaben musst du"
        " vergleichen?"
    ),
    sv="Du mäter hur långa utdata är, inte hur långt de flyttas. Vilka två resultat måste du jämföra?",
)
def leak_length_for_movement(norm, x, last):
    return norm(x)[:, 0].norm(dim=-1)


@LEAK.mistake("length-for-movement")
def leak_length_for_movement_after_the_change(norm, x, last):
    return norm(with_last(x, last))[:, 0].norm(dim=-1)


TASKS = (
    BY_HAND,
    LAYER_NORM,
    WHICH_AXIS,
    LEAK,
)
