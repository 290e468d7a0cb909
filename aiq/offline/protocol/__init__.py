"""Everything of the offline stack that speaks HTTP: OpenAI's endpoints, Tavily's search, and the small web."""
