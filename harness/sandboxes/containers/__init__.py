"""Containers of Docker or Podman, and the images that they are made from."""
