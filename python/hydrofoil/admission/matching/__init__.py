"""Which requests a webhook or policy is about: rules, selectors, equivalent resources, conditions."""
