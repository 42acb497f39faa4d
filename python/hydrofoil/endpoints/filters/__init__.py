"""The filters that a request passes on its way to a handler."""
