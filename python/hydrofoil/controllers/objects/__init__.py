"""The objects of the API as controllers read them: values with the fields that some controller asks for, and no others.

`meta.py` has metadata and selectors, `owners.py` owners for which controllers act, `pods.py` pods and what upstream's
helpers say of them, `times.py` the times in objects, `hashes.py` hashes for names and labels. A value is decoded from
the JSON of `v1`, once a change, by a `Lister` of the runtime; templates and other parts that are only passed on stay
raw.
"""
