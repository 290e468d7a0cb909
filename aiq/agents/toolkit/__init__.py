"""What research agents share: structured answers, tools by data source, compaction, conversations, middleware."""
