"""Workloads that run on: replica sets, deployments, stateful sets and daemon sets (`pkg/controller`)."""
