"""Rights by roles and bindings (kubernetes `plugin/pkg/auth/authorizer/rbac`)."""
