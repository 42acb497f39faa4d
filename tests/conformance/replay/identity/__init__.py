"""Keys, certificates, configuration files and a peer for the scenarios of authentication and authorization."""
