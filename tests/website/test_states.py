"""Which explorers a cell shows, and the states that are drawn beforehand."""

import pytest

from helpers import explorers, language
from helpers.explorers import race
from website import explorer_states


def test_every_explorer_of_the_helpers_has_its_steps():
    assert set(explorers.__all__) == set(explorer_states.STEPS)


@pytest.mark.parametrize(
    "source, shown",
    [
        ("explorers.placement()", ("placement", {})),
        (
            "from helpers.explorers import race\n\nrace.WarmupRace(kind='pre', rate=1e-4)",
            ("WarmupRace", {"kind": "pre", "rate": 1e-4}),
        ),
        ("explorers.WarmupRace('pre')", ("WarmupRace", {"kind": "pre"})),
        ('explorers.residual_stream("gpt1", "post")', ("residual_stream", {"model": "gpt1", "placement": "post"})),
        ("explorers.layer_norm_steps(10, outlier=5)", ("layer_norm_steps", {"shift": 10, "outlier": 5})),
        ("explorers.placement()\nprint(1)", None),
        ("x = explorers.placement()", None),
        ("race.stored()", None),
        ("print(explorers)", None),
        ("", None),
    ],
)  # fmt: skip
def test_finds_the_explorer_that_a_cell_shows_at_its_end(source, shown):
    assert explorer_states.shown_in(source) == shown


def test_an_unknown_explorer_is_named():
    with pytest.raises(ValueError, match="race.Marathon has no prepared states"):
        explorer_states.shown_in("race.Marathon()")


@pytest.mark.parametrize(
    "source, why",
    [
        ("explorers.placement('pre', 'layernorm', 16, 4)", "too many"),
        ("explorers.placement(depth=4)", "depth"),
        ("explorers.placement(layers=depth)", "written out"),
        ("explorers.placement(*settings)", "written out"),
        ("explorers.placement(**settings)", "written out"),
    ],
)
def test_arguments_that_the_site_cannot_take_are_named(source, why):
    with pytest.raises(ValueError, match="explorers.placement.*" + why):
        explorer_states.shown_in(source)


@pytest.mark.slow
def test_the_site_starts_in_the_state_that_the_cell_asks_for_by_position():
    prepared = explorer_states.prepare(*explorer_states.shown_in("explorers.placement('deepnorm', 'rmsnorm', 64)"))
    chosen = [control.options[control.start] for control in prepared.controls]
    assert chosen == ["DeepNorm", "RMSNorm", "64"]


def test_a_step_that_the_control_has_not_got_is_an_error():
    with pytest.raises(ValueError):
        explorer_states.some(1, 7)([1, 2, 3])


@pytest.mark.slow
def test_the_last_control_changes_fastest_and_each_state_is_what_the_live_explorer_shows():
    prepared = explorer_states.prepare("layer_norm_steps", {})
    counts = [len(control.options) for control in prepared.controls]
    assert [control.name for control in prepared.controls] == ["shift", "scale", "outlier"] and counts == [3, 5, 3]
    assert len(prepared.states) == 45
    live = explorers.layer_norm_steps(shift=100, scale=0.003, outlier=5)
    picture, message = prepared.states[2 * 15 + 1 * 3 + 1]
    assert (picture.svg, picture.alt, message) == (live.picture.svg, live.picture.alt, live.picture.alt)


@pytest.mark.slow
def test_the_stream_starts_with_a_bundled_model_whatever_the_cell_asks_for():
    prepared = explorer_states.prepare("residual_stream", {"model": "gpt2", "reference": False})
    controls = {control.name: control for control in prepared.controls}
    assert controls["model"].options[controls["model"].start] == "bundled: LayerNorm, pre-norm"
    assert controls["reference"].start == 0 and controls["token"].options[1].startswith("68: ")
    assert {control.kind for control in prepared.controls} == {"select", "radio", "checkbox"}


@pytest.mark.slow
def test_the_race_offers_every_stored_run_once_in_the_language_in_use():
    language.use("de")
    (control,) = explorer_states.prepare("WarmupRace", {}).controls
    assert len(set(control.options)) == len(control.options) == len(race.stored())
    assert control.options[control.start] == "Post-Norm, 12 Blöcke, Lernrate 0,0005, Warmup 0"


@pytest.mark.slow
def test_messages_are_text_without_markup():
    picture, message = explorer_states.prepare("WarmupRace", {}).states[0]
    assert "<" not in message and message == picture.alt
