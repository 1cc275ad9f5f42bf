"""For pytest: the fixture `assert_isolation`.  The package registers it by itself."""
from typing import Callable

import pytest

from . import Result, assert_isolation as _assert_isolation


@pytest.fixture
def assert_isolation() -> Callable[..., Result]:
    """Call it with a history or a file and a level."""
    return _assert_isolation
