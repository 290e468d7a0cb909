"""How the offline model reads questions, documents, dates and evidence, in English and Chinese.

It works by grammar and synonyms only: nothing here knows what the closed world or any dataset contains.
"""
