"""What runs inside a sandbox, beside the code that it is for: standard library only, no import of ours."""
