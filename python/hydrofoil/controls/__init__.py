"""The controls of a test over a server: faults, journal, time, snapshots, and their HTTP form."""
