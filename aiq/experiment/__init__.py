"""Making a run: config, plan, sessions, attempts, scoring, the runner, resuming, rescoring, sweeps and shards."""
