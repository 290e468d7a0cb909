"""Reading finished runs: calibration of judges, sweeps, official scores, exports. Nothing here prints."""
