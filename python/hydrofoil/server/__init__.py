"""The server, composed of its parts."""
