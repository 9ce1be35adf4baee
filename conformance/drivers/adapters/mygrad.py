"""MyGrad: its tape, of one operation at a time; what it does cannot be differentiated again."""

import mygrad.nnet
import numpy as np
from kit import Backend, Lacks

import mygrad


class MyGrad(Backend):
    """Its tensors live while it is asked; between two questions their data is kept."""

    name, version = "mygrad", mygrad.__version__
    scope = {"np": mygrad, "mg": mygrad}
    without_gradient = (NotImplementedError,)
    nests = False

    def array(self, value):
        if value.dtype.kind == "c":
            raise Lacks("complex numbers")
        return value

    def call(self, function, arrays):
        answer = function(*arrays)  # of NumPy's arrays: nothing is kept for a gradient
        if isinstance(answer, (list, tuple)):
            return [None if one is None else np.asarray(one) for one in answer]
        return np.asarray(answer)

    def vjp(self, function, arrays, cotangents):
        tensors = [mygrad.tensor(array, constant=False) for array in arrays]
        try:
            outputs = function(*tensors)
        except ValueError as error:
            if "non-constant" not in str(error):
                raise
            raise NotImplementedError(str(error)) from error
        if len(outputs) == 1:
            outputs[0].backward(cotangents[0])
        else:
            sum(mygrad.sum(one * other) for one, other in zip(outputs, cotangents)).backward()
        return [tensor.grad for tensor in tensors]


backend = MyGrad()
