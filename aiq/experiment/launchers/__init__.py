"""Where the processes of a run that is done in shards are started: on this machine, by Ray, by Slurm."""
