"""A runtime for controllers: client-go's informers, work queues and event recorder inside the server.

`runtime.py` is what the controllers of a server share, `controller.py` what each of them is, with an example.
`informer.py` has one watch for each resource that a controller asks for; its objects are native handles by namespace
and name, and by what an index says (`index.py`), and `fields.py` reads fields of them without decoding objects.
`queue.py` has the keys to process: by priority, after a time, and again after failures. `expectations.py` keeps a
controller from acting on a state that lacks its own writes. `recorder.py` writes Events, which `correlator.py` counts
and combines; `writes.py` says how controllers write, `client.py` has what they write, and `lister.py` the objects of an
informer as values of a type.
"""
