"""Launchers that start the processes of a sharded run: on this machine, by Ray, by Slurm."""
