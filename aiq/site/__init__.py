"""The pages that show runs to people: one self-contained HTML file a run, from the files of its folder alone."""
