"""For pytest: the fixture `assert_isolation`.  The package registers it by itself."""
import pytest

from . import assert_isolation as _assert_isolation


@pytest.fixture
def assert_isolation():
    """Call it with a history or a file and a level."""
    return _assert_isolation
