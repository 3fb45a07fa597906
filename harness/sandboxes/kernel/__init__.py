"""What the kernel holds for a sandbox: users, control groups, system calls."""
