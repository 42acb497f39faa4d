"""google/cel-spec's conformance cases, run against a server as rules of custom resources."""
