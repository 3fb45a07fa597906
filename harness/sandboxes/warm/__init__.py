"""The harness's side of a sandbox: one warm parent process inside, and the channel to it."""
