"""How a route reaches the platform."""

from typing import Annotated

from fastapi import Depends, Request

from steward.bootstrap import Platform


def platform_of(request: Request) -> Platform:
    return request.app.state.platform


Here = Annotated[Platform, Depends(platform_of)]
