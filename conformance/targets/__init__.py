"""What can be asked: the target grammar and the environments that targets run in."""
