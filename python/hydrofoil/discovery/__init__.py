"""Discovery of groups, versions and resources."""
