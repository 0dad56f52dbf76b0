"""What a schema's own pattern says about dates, times and codes."""

from datetime import datetime

import pytest

from steward.language.formats import in_format, wanted_format
from steward.language.forms.patterns import written_as

AT = datetime(2026, 3, 9, 14, 5)  # noqa: DTZ001 the wall clock that was said


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        (r"^\d{2}:\d{2}$", "14:05"),
        (r"^([01]\d|2[0-3]):[0-5]\d$", "14:05"),
        (r"^\d{4}-\d{2}-\d{2}$", "2026-03-09"),
        (r"^\d{2}:\d{2}:\d{2}$", "14:05:00"),
        (r"^\d{1,2}\.\d{1,2}\.\d{4}$", "09.03.2026"),
        (r"^20\d\d/(0[1-9]|1[0-2])/\d\d$", "2026/03/09"),
        (r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$", "2026-03-09T14:05"),
        (r"^\d{4}-\d{2}$", "2026-03"),
        (r"^\d{2}:\d{2} (AM|PM)$", "02:05 PM"),
    ],
)
def test_a_pattern_says_how_a_moment_is_written(pattern: str, written: str) -> None:
    wanted = wanted_format({"type": "string", "pattern": pattern})
    assert wanted is not None
    assert in_format(wanted, AT) == written


def test_a_description_decides_between_forms_that_both_fit() -> None:
    pattern = r"^\d{2}/\d{2}/\d{4}$"
    wanted = wanted_format({"pattern": pattern, "description": "Day, MM/DD/YYYY"})
    assert wanted == "%m/%d/%Y"
    assert wanted_format({"pattern": pattern}) == "%d/%m/%Y"


@pytest.mark.parametrize(
    "pattern", [".*", r"^\w+$", r"^[\d:-]+$", r"^[A-Z]{3}$", r"^\d{5}$", "(", r"^RB-\d+$"]
)
def test_a_pattern_that_is_no_date_wants_none(pattern: str) -> None:
    assert wanted_format({"pattern": pattern}) is None


@pytest.mark.parametrize(
    ("pattern", "said", "written"),
    [
        (r"^[A-Z]{3}$", "lhr", "LHR"),
        (r"^\d{5}$", "80 331", "80331"),
        (r"^[A-Z]{2}\d{2}[A-Z0-9]{6,30}$", "de12 5001 0517", "DE1250010517"),
        (r"^RB-\d{4}$", "rb 2044", "RB-2044"),
        (r"^RB-\d{4}$", "2044", "RB-2044"),
        (r"^\+\d{7,15}$", "+49 (30) 901-820", "+4930901820"),
        (r"^[a-z]+(_[a-z]+)*$", "Green Room", "green_room"),
        (r"^[a-z0-9-]+$", "Winter sale", "winter-sale"),
    ],
)
def test_a_code_is_written_as_the_pattern_wants_it(pattern: str, said: str, written: str) -> None:
    assert written_as({"pattern": pattern}, said) == written


def test_what_fits_no_form_stays_as_it_was_said() -> None:
    assert written_as({"pattern": r"^RB-\d{4}$"}, "the one on Monday") == "the one on Monday"
    assert written_as({"pattern": r"^\d{2}:\d{2}$"}, "soon") is None
    assert written_as({}, "soon") == "soon"
