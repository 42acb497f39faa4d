"""Traces of requests.

`service.py` makes the spans, on opentelemetry, which is imported only with the flag; `configuration.py` reads the
file; `endpoints/filters/tracing.py` is its step of the chain, and `outbound/propagation.py` carries a trace on.
"""
