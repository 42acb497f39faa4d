"""The requests that concern a webhook or policy: rules, selectors, equivalent resources, conditions."""
