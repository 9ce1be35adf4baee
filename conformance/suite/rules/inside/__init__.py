"""What runs in a worker: TensorFlow with its registry of gradients wrapped."""
