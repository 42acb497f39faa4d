"""From a request to a call and back."""
