"""What everything else speaks: samples, reports, scores, sessions, events, settings, errors.

Nothing in this package imports LangChain, pandas, datasets or any other part of aiq.
"""
