"""The flags that select admission plug-ins."""

from __future__ import annotations

import pytest

from hydrofoil.admission.options import ORDER, AdmissionOptions, plugins

PULL, LIMITS = plugins("AlwaysPullImages"), plugins("LimitRanger,NamespaceLifecycle")


def test_the_older_flag_names_all_that_run() -> None:
    on, off = AdmissionOptions(admission_control=LIMITS).selected()
    assert on == {*LIMITS} and off == {*ORDER} - {*LIMITS}


def test_plug_ins_are_switched_on_and_off() -> None:
    options = AdmissionOptions(enable_admission_plugins=PULL, disable_admission_plugins=LIMITS)
    assert options.selected() == (frozenset(PULL), frozenset(LIMITS))


def test_a_plug_in_is_not_on_and_off() -> None:
    options = AdmissionOptions(enable_admission_plugins=plugins("AlwaysPullImages,Priority"))
    both = AdmissionOptions(enable_admission_plugins=PULL, disable_admission_plugins=PULL)
    assert options.selected()[1] == frozenset()
    text = r"^\[AlwaysPullImages\] in enable-admission-plugins and disable-admission-plugins overlapped$"
    with pytest.raises(ValueError, match=text):
        both.selected()


def test_the_older_flag_excludes_the_newer_ones() -> None:
    text = "^admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive$"
    for options in (
        AdmissionOptions(admission_control=LIMITS, enable_admission_plugins=PULL),
        AdmissionOptions(admission_control=LIMITS, disable_admission_plugins=PULL),
    ):
        with pytest.raises(ValueError, match=text):
            options.selected()
