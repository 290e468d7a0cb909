"""The HTTP side of the offline stack: OpenAI's endpoints, Tavily's search API, and the small web."""
