"""The admission plug-ins, one a file."""
