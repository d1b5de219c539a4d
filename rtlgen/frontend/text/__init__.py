"""From the files of a program to C tokens: preprocessing, pragmas, system headers."""
