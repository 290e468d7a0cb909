"""How the offline model reads: questions, documents, dates, evidence; English and Chinese, by grammar and synonyms only.

Nothing here knows what the closed world or any dataset contains.
"""
