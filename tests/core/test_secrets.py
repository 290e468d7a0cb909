"""Secrets are removed from what is stored and printed; what might be an ordinary word or number stays."""

from aiq.core.secrets import hidden, hide


def test_a_secret_is_hidden_in_every_encoding_but_words_and_numbers_are_not() -> None:
    hide(['k3y/of"us', "postgres", "20261127", "short1"])
    assert hidden('k3y/of"us k3y/of\\"us k3y%2Fof%22us') == "*** *** ***"
    assert hidden('{"kind":"postgres","tokens":20261127,"x":"short1"}') == (
        '{"kind":"postgres","tokens":20261127,"x":"short1"}'
    )
