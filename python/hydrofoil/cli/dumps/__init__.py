"""The commands of dumps: `export`, `import` and `replay`."""
