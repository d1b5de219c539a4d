"""Published tables, reproduced: one file a table, its rows as data."""
