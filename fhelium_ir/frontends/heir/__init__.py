"""The frontend `heir`: CKKS programs as `heir-opt` prints them."""
