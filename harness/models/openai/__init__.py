"""Clients of the two OpenAI APIs, through the openai SDK."""
