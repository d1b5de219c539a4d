"""The syntax tree of C, where its nodes stand in the text, and what it says by itself."""
