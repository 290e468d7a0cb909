"""Record and replay: the exchanges of a run with the outside, kept so that the run can be repeated without it."""
