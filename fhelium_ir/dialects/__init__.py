"""The dialects of fhelium-ir, one file each."""
