"""What a request goes through on its way to a handler, one step a file."""
