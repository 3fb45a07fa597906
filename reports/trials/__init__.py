"""Single trials for readers: in words, in the terminal, as lists and as documents."""
