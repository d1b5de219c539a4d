"""What a person or a script reads about a plan: text, JSON, HTML."""
