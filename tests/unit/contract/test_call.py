import pytest

from steward.contract.call import Caller, CallerKind, Done, Failed, PendingApproval, ToolCall, envelope
from steward.contract.errors import ErrorCode, StewardError, StorageError
from steward.contract.tool import RiskLevel

ENVELOPE = {
    "status": "done",
    "success": True,
    "data": {"n": 1},
    "error": None,
    "error_code": None,
    "retryable": False,
    "outcome_unknown": False,
    "proposal_id": None,
    "call_id": "c",
    "correlation_id": "r",
    "duration_ms": 1.235,
}


@pytest.mark.req("SKL-ENT-Response")
@pytest.mark.req("SKL-FR-008", "ORC-Q08")
def test_a_result_has_one_shape_on_every_wire() -> None:
    stamps = {"call_id": "c", "correlation_id": "r", "duration_ms": 1.2345678}
    assert [
        envelope(Done(data={"n": 1}, **stamps)),
        envelope(Failed(error="no", code="X", retryable=True, outcome_unknown=True, data=[1], **stamps)),
        envelope(PendingApproval(proposal_id="p", reason="why", risk=RiskLevel.IRREVERSIBLE, **stamps)),
    ] == [
        ENVELOPE,
        ENVELOPE
        | {
            "status": "failed",
            "success": False,
            "data": [1],
            "error": "no",
            "error_code": "X",
            "retryable": True,
            "outcome_unknown": True,
        },
        ENVELOPE
        | {
            "status": "pending_approval",
            "success": False,
            "data": None,
            "error": "why",
            "proposal_id": "p",
        },
    ]


def test_an_error_becomes_a_failed_result_with_its_code_and_fix() -> None:
    failed = Failed.from_error(
        StorageError("The disk is full.", code=ErrorCode.STORAGE_FULL, fix="Free space.")
    )
    assert failed == Failed(error="The disk is full. Free space.", code="STORAGE_FULL", retryable=True)


def test_an_error_without_a_fix_says_just_what_happened() -> None:
    assert (StewardError("No.").explain(), StewardError("No.").code) == ("No.", "INTERNAL")


@pytest.mark.req("ORC-FR-017")
def test_every_call_has_ids_of_its_own_and_no_confidence_unless_computed() -> None:
    one, other = (ToolCall(tool="a", arguments={}, caller=Caller(CallerKind.PERSON, "me")) for _ in range(2))
    assert (len({one.call_id, other.call_id, one.correlation_id, other.correlation_id}), one.confidence) == (
        4,
        0.0,
    )
