"""Secrets are taken out of what is kept and said; what might be a word or a number of a file stays."""

from aiq.core.secrets import mask_secrets, register_secrets


def test_a_secret_is_hidden_however_it_is_spelled_and_no_word_or_number_is() -> None:
    register_secrets(['k3y/of"us', "postgres", "20261127", "short1"])
    assert mask_secrets('k3y/of"us k3y/of\\"us k3y%2Fof%22us') == "*** *** ***"
    assert mask_secrets('{"kind":"postgres","tokens":20261127,"x":"short1"}') == (
        '{"kind":"postgres","tokens":20261127,"x":"short1"}'
    )
