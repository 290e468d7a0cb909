"""The one way to the world: search, fetch, think, and the toolbox that lends them to agents."""
