"""HTTP between us and endpoints: what goes over it is bounded, recorded, and free of keys."""
