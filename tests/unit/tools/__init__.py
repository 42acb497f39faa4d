"""Tools of the project, without the programs that they run."""
