"""The endpoints of services (`pkg/controller/endpoint`, `endpointslice`, `endpointslicemirroring`)."""
