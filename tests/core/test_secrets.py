"""Secrets are removed from what is stored and printed; what might be an ordinary word or number stays."""

from aiq.core.secrets import mask_secrets, register_secrets


def test_a_secret_is_hidden_in_every_encoding_but_words_and_numbers_are_not() -> None:
    register_secrets(['k3y/of"us', "postgres", "20261127", "short1"])
    assert mask_secrets('k3y/of"us k3y/of\\"us k3y%2Fof%22us') == "*** *** ***"
    assert mask_secrets('{"kind":"postgres","tokens":20261127,"x":"short1"}') == (
        '{"kind":"postgres","tokens":20261127,"x":"short1"}'
    )
