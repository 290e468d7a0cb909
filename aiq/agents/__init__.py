"""The systems under test. An agent knows nothing of datasets or judges."""
