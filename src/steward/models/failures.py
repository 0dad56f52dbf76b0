"""What goes wrong with a language model, told apart and in plain words.

The one place where Pydantic AI's exceptions become ours. The provider's own words are left out: an
error body may quote the prompt, and a person needs the cause and the fix. One class a cause, because
spans carry the class of an error and nothing of its text.
"""

from pydantic_ai import exceptions as theirs

from steward.contract import linear_re as re
from steward.contract.errors import ErrorCode, ModelError, StewardError


class ModelUnavailableError(ModelError):
    default_retryable = True


class ModelTimeoutError(ModelUnavailableError):
    default_code = ErrorCode.MODEL_TIMEOUT


class ModelRateLimitedError(ModelUnavailableError):
    default_code = ErrorCode.MODEL_RATE_LIMITED


class ModelQuotaExceededError(ModelError):
    default_code = ErrorCode.MODEL_QUOTA_EXCEEDED


class ModelAuthenticationError(ModelError):
    default_code = ErrorCode.MODEL_AUTHENTICATION


class ModelNotFoundError(ModelError):
    default_code = ErrorCode.MODEL_NOT_FOUND


class ModelRejectedError(ModelError):
    default_code = ErrorCode.MODEL_REJECTED


class ModelContextExceededError(ModelRejectedError):
    default_code = ErrorCode.MODEL_CONTEXT_EXCEEDED


class ModelAnswerInvalidError(ModelError):
    default_code = ErrorCode.MODEL_ANSWER_INVALID
    default_retryable = True


class RunLimitReachedError(ModelError):
    default_code = ErrorCode.RUN_LIMIT_REACHED


class RunTimeoutError(ModelError):
    default_code = ErrorCode.RUN_TIMEOUT
    default_retryable = True


class RunStoppedError(ModelError):
    default_code = ErrorCode.CANCELLED


WAIT_OR_RAISE = (
    "Wait until the quota renews, raise it with the provider, or set STEWARD_MODEL to another model."
)
# Providers answer 429 for both; only their words tell a spent quota from a short pause.
_QUOTA = re.compile(r"quota|billing|credit|insufficient|spend", re.IGNORECASE)


def explain(error: BaseException, *, model: str) -> StewardError:  # noqa: PLR0911 - one line a cause
    """Our error for anything that came out of a model or a run of one."""
    match error:
        case StewardError():
            return error
        case theirs.FallbackExceptionGroup():
            return _of_chain([explain(each, model=model) for each in error.exceptions])
        case theirs.RunTimedOut():
            return RunTimeoutError(
                "The run took longer than it may.", fix="Ask for less at once, or raise STEWARD_RUN_SECONDS."
            )
        case theirs.RunCancelled():
            return RunStoppedError("The run was stopped.")
        case theirs.UsageLimitExceeded():
            return _limit(error.message)
        case theirs.ModelAPIError() if not uncategorised(error):
            return _api(error, model)
        case theirs.ModelAPIError() | theirs.UnexpectedModelBehavior():
            return ModelAnswerInvalidError(
                f"The model '{model}' gave an answer that cannot be used.",
                fix="Try again, or set STEWARD_MODEL to a model that supports tools.",
            )
        case _:
            return ModelUnavailableError(f"The model '{model}' failed unexpectedly ({type(error).__name__}).")


def uncategorised(error: theirs.AgentRunError) -> bool:
    """An answer came, and not even its kind of failure could be read from it."""
    return type(error) is theirs.ModelAPIError


def wants_quota(error: theirs.ModelAPIError) -> bool:
    """Whether a refusal is about a spent quota rather than about going too fast."""
    if isinstance(error, theirs.ModelQuotaExceededError):
        return True
    said = f"{error.provider_error_code} {error.provider_error_type} {error.body}"
    return isinstance(error, theirs.ModelRateLimitError) and _QUOTA.search(said) is not None


def _api(error: theirs.ModelAPIError, model: str) -> ModelError:  # noqa: PLR0911 - one line a cause
    details = {"model": model}
    match error:
        case _ if wants_quota(error):
            return ModelQuotaExceededError(
                f"The quota for the model '{model}' is used up.", fix=WAIT_OR_RAISE, details=details
            )
        case theirs.ModelRateLimitError():
            wait = f"in {error.retry_after:.0f} seconds" if error.retry_after else "in a moment"
            return ModelRateLimitedError(
                f"The model '{model}' is getting more requests than it takes.",
                fix=f"Try again {wait}.",
                details=details | ({"retry_after": error.retry_after} if error.retry_after else {}),
            )
        case theirs.ModelAuthenticationError():
            return ModelAuthenticationError(
                f"The model '{model}' refused our credentials.",
                fix="Check the API key and that it may use this model.",
                details=details,
            )
        case theirs.ModelNotFoundError():
            return ModelNotFoundError(
                f"There is no model or deployment '{model}' at its address.",
                fix="Check the name in STEWARD_MODEL (on Azure, AZURE_DEPLOYMENT_NAME) and the endpoint.",
                details=details,
            )
        case theirs.ModelContextWindowExceededError():
            return ModelContextExceededError(
                f"This conversation is longer than the model '{model}' can read.",
                fix="Start a new conversation.",
                details=details,
            )
        case theirs.ModelTimeoutError() | theirs.ModelRequestTimeout():
            return ModelTimeoutError(
                f"The model '{model}' did not answer in time.", fix="Try again.", details=details
            )
        case theirs.ModelRequestRejectedError():
            return ModelRejectedError(
                f"The model '{model}' refused the request as invalid.",
                fix="Check that this model supports tools; set STEWARD_MODEL to another one if it does not.",
                details=details,
            )
        case _:
            return ModelUnavailableError(
                f"The model '{model}' cannot be reached or is failing.",
                fix="Check that it is running and that its address is right; then try again.",
                details=details,
            )


def _of_chain(errors: list[StewardError]) -> ModelError:
    """The first model of a chain is the one that was wanted: its cause leads, the others follow."""
    first = errors[0]
    others = "; ".join(error.message for error in errors[1:])
    return _same_kind(
        first,
        f"{first.message} No model of the chain answered: {others}" if others else first.message,
        {"causes": [error.code for error in errors]},
    )


def _same_kind(error: StewardError, message: str, details: dict[str, object]) -> ModelError:
    kind = type(error) if isinstance(error, ModelError) else ModelUnavailableError
    return kind(message, code=error.code, fix=error.fix, retryable=error.retryable, details=details)


def _limit(message: str) -> RunLimitReachedError:
    if "cost_limit" in message:
        return RunLimitReachedError(
            "The run reached its cost limit.",
            fix="Raise STEWARD_RUN_COST or ask for less.",
            details={"limit": "cost"},
        )
    if "tokens" in message:
        return RunLimitReachedError(
            "The run reached its token limit.", fix="Ask for less at once.", details={"limit": "tokens"}
        )
    return RunLimitReachedError(
        "The run took as many steps as it may.",
        fix="Ask for less at once, or raise STEWARD_RUN_STEPS.",
        details={"limit": "steps"},
    )
