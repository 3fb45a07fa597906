"""The proxy through which a sandbox reaches named hosts."""
