"""Whether the text of a cited source supports the statement that cites it: by rules, with no model asked."""
