"""The nest model: candidate nests of statements, their distances, and the search among them."""
