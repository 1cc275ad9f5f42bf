"""The fixture that the package registers with pytest."""
import insula


def test_the_fixture_is_there(assert_isolation):
    h = insula.generate(level="ser", txns=50, seed=1)
    assert assert_isolation(h, "ser").passed
