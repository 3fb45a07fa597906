"""The client of Google's Gemini models, through the google-genai SDK."""
