"""Can a published table of ratings be true? `consistency` asks, the other modules answer one part each."""
