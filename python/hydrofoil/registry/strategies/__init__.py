"""What single kinds do differently."""
