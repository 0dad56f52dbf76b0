import pytest

pytestmark = pytest.mark.timeout(600)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.timeout(600))
