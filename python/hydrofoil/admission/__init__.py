"""Who changes and who refuses what is written, between the request and the registry."""
