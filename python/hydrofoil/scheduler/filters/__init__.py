"""Why a node is refused: a filter each, in the order of the default profile (`framework/plugins`)."""
