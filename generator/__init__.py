"""Raw datasets to verified tasks: profile, proposals, task packages, verification, funnel."""
