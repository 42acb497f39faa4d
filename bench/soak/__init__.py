"""A long mixed load, whose watchers must end with what a fresh list gives."""
