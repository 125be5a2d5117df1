"""What links a lowered program to memory and runs it."""
