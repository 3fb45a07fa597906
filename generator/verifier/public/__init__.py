"""What lies under public/: tables, archives, media."""
