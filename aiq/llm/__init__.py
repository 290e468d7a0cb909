"""The one way to a model: the run's HTTP client, roles, usage and price, retries, rate limits."""
