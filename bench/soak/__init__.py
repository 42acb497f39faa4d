"""A long mixed load, after which each watcher's view must equal a fresh list."""
