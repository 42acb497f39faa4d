"""The built-in types and resources, and the documents that describe them."""
