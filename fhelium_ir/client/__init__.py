"""What a data owner runs: parameters, encoding, keys, encryption, decryption."""
