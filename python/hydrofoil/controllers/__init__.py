"""Controllers: loops that act on the objects of the API."""
