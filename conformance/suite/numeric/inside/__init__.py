"""What runs in a worker: the oracle in double precision, with a tape whose answers are checked."""
