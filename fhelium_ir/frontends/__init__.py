"""Frontends: readers of programs that other compilers wrote."""
