"""Tools of MCP servers, over stdio or streamable HTTP."""
