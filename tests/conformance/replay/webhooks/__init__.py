"""Webhooks that scenarios call through the server: conversion and admission, each path with its own behaviour."""
