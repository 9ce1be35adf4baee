"""What TensorFlow has beside gradients, as much of it as programs about gradients use.

Nothing here is part of the contract; what it does under a tape follows from the operations.
"""
