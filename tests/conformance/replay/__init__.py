"""Send recorded requests to a server and compare its answers with those of kube-apiserver."""
