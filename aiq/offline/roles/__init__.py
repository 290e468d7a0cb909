"""One small program a role: `roles/<owner>/<name>.py` answers role `<owner>.<name>`.

Each module has `reply(request: ChatRequest) -> ChatReply`. It works on the request alone: it never
sees answers, criteria it was not sent, or the truth of the closed world.
"""
