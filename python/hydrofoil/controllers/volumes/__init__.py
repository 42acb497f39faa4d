"""Claims, volumes and what is made for them (`pkg/controller/volume`)."""
