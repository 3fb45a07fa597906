"""Task design by rules, without any model: from the profile to proposals and task packages."""
