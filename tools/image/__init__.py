"""The image of a container: how it is built and looked at."""
