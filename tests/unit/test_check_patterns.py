"""The check of `make check` that pumps every pattern finds one that grows, and lets others be."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_patterns.py"


@pytest.fixture(scope="module")
def check() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_patterns", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_patterns"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("pattern", "linear"),
    [(r"[\w.]+(?=@)", True), (r"(?:a|b|ab)*(?=c)", True), (r"\s*,?\s*$", False), (r"(\w+\s*)*x", False)],
)
def test_a_pattern_that_grows_faster_than_its_text_is_told(
    check: ModuleType, pattern: str, linear: bool
) -> None:
    assert pattern[:20] in (check.growth(check.Found(pattern, 0, "here:1", linear)) or "").replace(
        "\\\\", "\\"
    )


@pytest.mark.parametrize(
    ("pattern", "linear"), [(r"\s*,?\s*$", True), (r"(\w+\s*)*x", True), (r"(?<=a)b+", True), (r"\d+", False)]
)
def test_a_pattern_that_does_not_is_let_be(check: ModuleType, pattern: str, linear: bool) -> None:
    assert check.growth(check.Found(pattern, 0, "here:1", linear)) is None
