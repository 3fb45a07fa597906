"""Tables, figures and the static site: pure functions of boards and run records."""
