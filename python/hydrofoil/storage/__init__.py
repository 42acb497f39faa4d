"""Where objects are kept."""
