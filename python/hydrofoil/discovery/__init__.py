"""Discovery of groups, versions and resources.

It has the documents of groups and versions (`documents.py`) and aggregated discovery (`aggregated.py`).
"""
