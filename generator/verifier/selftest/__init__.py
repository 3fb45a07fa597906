"""The proof of the verifier: injected defects that it must find."""
