"""OpenAPI documents of built-in kinds, of definitions and of services, merged.

It has the packed documents (`packed.py`), the descriptions of built-in fields, which an installed package has
(`descriptions.py` reads its files as text, at the first request for a document), the same without disabled resources
(`enabled.py`), those of definitions (`definitions.py`) and of services (`merge.py`); `documents.py` serves them, with
conditions and ranges as Go serves files (`content.py`).
"""
