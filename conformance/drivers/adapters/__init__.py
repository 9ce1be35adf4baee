"""What the kit needs of each framework: an adapter is a module that has a `backend`."""
