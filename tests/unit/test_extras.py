"""Each extra of the code is one of the package, and what lacks it says the line that installs it."""

import tomllib
from pathlib import Path

import pytest

from steward.contract.extras import EXTRAS, Extra, missing
from steward.models.hosted import OTHER_PROVIDERS

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DECLARED = PROJECT["optional-dependencies"]
PAGE = (Path(__file__).parents[2] / "docs" / "package.md").read_text(encoding="utf-8")


def test_all_is_every_part_of_steward_itself() -> None:
    assert DECLARED["all"] == [f"steward-agents[{','.join(EXTRAS)}]"]


@pytest.mark.parametrize("extra", [*EXTRAS, *OTHER_PROVIDERS])
def test_what_an_error_names_can_be_installed_and_is_on_the_package_page(extra: str) -> None:
    assert missing(extra, "It").fix == f'Run: pip install "steward-agents[{extra}]"'
    assert (extra in DECLARED, f"`{extra}`" in PAGE) == (True, True)


def test_a_clone_has_all_of_them() -> None:
    assert [name for name, extra in EXTRAS.items() if not extra.installed] == []


def test_a_part_of_what_is_not_there_is_not_there_either() -> None:
    assert not Extra("sums", "no_such_package.part").installed


def test_nothing_of_an_extra_is_in_the_base() -> None:
    def name(requirement: str) -> str:
        return requirement.partition(">")[0].partition("[")[0]

    base = {name(each) for each in PROJECT["dependencies"]}
    extras = {name(each) for extra in EXTRAS for each in DECLARED[extra]} - {"pydantic-ai-slim"}
    assert base & extras == set()
