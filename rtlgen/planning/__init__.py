"""What is built: moves, lanes, forms and RAM, and the search among them."""
