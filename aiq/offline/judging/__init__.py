"""The offline model as a judge: it recognises what is to be judged and fills in the requested form."""

from aiq.offline.judging.judge import judge

__all__ = ["judge"]
