"""The offline model as a judge: it recognises what is to be judged and fills the form that is asked for."""

from aiq.offline.judging.judge import judge

__all__ = ["judge"]
