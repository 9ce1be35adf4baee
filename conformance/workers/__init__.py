"""Workers: the host's side of a session, and inside/, which runs in a framework's process."""
