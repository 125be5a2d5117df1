"""Random programs against the compiler: `python -m tests.fuzz_programs --minutes 20 --seed 1`."""
