"""TensorFlow's registered gradients: which the cases call, and which mistakes they catch."""
