"""Users' documents: reading, summaries, collections on disk, and the tool that searches them."""
