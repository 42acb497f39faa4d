"""The commands of the replayer."""
