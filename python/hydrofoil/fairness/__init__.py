"""Priority and fairness: which requests run at once, and whose turn it is."""
