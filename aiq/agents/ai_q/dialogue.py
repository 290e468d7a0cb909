"""Conversations: a question and its history as messages, trimmed; the answer in a list of messages."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from aiq.core.samples import Question


def conversation(question: Question, max_history: int) -> list[AnyMessage]:
    """The question behind its history: the last `max_history` messages, the first of them the user's."""
    history: list[AnyMessage] = [
        HumanMessage(turn.text) if turn.speaker == "user" else AIMessage(turn.text) for turn in question.history
    ]
    return trimmed([*history, HumanMessage(question.text)], max_history)


def trimmed(messages: Sequence[AnyMessage], max_history: int) -> list[AnyMessage]:
    """The last `max_history` messages, starting on a user's; at least the last user message."""
    kept = list(messages[-max_history:])
    while kept and not isinstance(kept[0], HumanMessage):
        kept.pop(0)
    return kept or [next(m for m in reversed(messages) if isinstance(m, HumanMessage))]


def transcript(messages: Sequence[AnyMessage]) -> str:
    """Messages as `User:` and `Assistant:` lines, for a prompt that shows a conversation as data."""
    speakers = {"human": "User", "ai": "Assistant"}
    return "\n".join(f"{speakers.get(m.type, m.type)}: {text_of(m)}" for m in messages)


def last_answer(messages: Sequence[AnyMessage]) -> str:
    """Text of the last message when it is the assistant's and asks for no tools; else an empty string."""
    last = messages[-1] if messages else None
    return text_of(last) if isinstance(last, AIMessage) and not last.tool_calls else ""


def text_of(message: AnyMessage) -> str:
    """A message's text, content blocks joined."""
    return str(message.text)
