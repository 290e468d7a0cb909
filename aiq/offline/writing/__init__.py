"""How the offline model writes reports: sections, paragraphs, tables and conclusions made of cited findings."""
