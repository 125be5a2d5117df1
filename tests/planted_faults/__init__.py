"""Faults planted one by one, each of which random programs have to find: `python -m tests.planted_faults`."""
