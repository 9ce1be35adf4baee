"""The texts of tapes, accumulators and functions around a drawn program, and what is asked of them.

A text has holes, by the names of `FILLERS` in programs.py. A hole that is named twice is filled
twice alike; a digit after its name tells it from others of its kind. `body` stands for the drawn
statements on a line of their own, `recorded` for the same where now and then `tape` does not record
one of them. What is called `g`, `h` or `k` is observed, and the last value of the drawn statements
where they stand outside of functions.
"""

from __future__ import annotations

ONCE = """
with tf.GradientTape({options}) as tape:
    tape.watch({watched})
    {recorded}
g = tape.gradient({target}, {sources}{given})
"""
TWICE = """
with tf.GradientTape(persistent=True) as tape:
    tape.watch({watched})
    {recorded}
g = tape.gradient({target}, {sources}{given})
h = tape.gradient({target2}, {sources2}{given2})
"""
INSIDE = """
with tf.GradientTape(persistent=True) as tape:
    tape.watch({watched})
    {recorded}
    g = tape.gradient({target}, {sources}{given})
h = tape.gradient(g, {sources2})
"""
NESTED = """
with tf.GradientTape({options}) as outer:
    outer.watch({watched})
    with tf.GradientTape({options2}) as tape:
        tape.watch({watched2})
        {recorded}
    g = tape.gradient({target}, {sources}{given})
h = outer.gradient(g, {sources2})
"""
THIRD = """
with tf.GradientTape() as third:
    third.watch({watched})
    with tf.GradientTape() as second:
        second.watch({watched})
        with tf.GradientTape() as tape:
            tape.watch({watched})
            {body}
        g = tape.gradient({last}, {input})
    h = second.gradient(g, {input})
k = third.gradient(h, {input})
"""
OF_THE_OUTER_TAPE = """
with tf.GradientTape() as outer:
    outer.watch({watched})
    with tf.GradientTape() as tape:
        tape.watch({watched2})
        {recorded}
g = tape.gradient({target}, {sources})
h = outer.gradient({target2}, {sources2})
"""
JACOBIAN = """
with tf.GradientTape({options}) as tape:
    tape.watch({watched})
    {recorded}
g = tape.jacobian({last}, {sources}{parallel})
"""
BATCH_JACOBIAN = """
with tf.GradientTape({options}) as tape:
    tape.watch({watched})
    {recorded}
g = tape.batch_jacobian({last}, {value}{parallel})
"""
HESSIAN = """
with tf.GradientTape({options}) as outer:
    outer.watch({watched})
    with tf.GradientTape() as tape:
        tape.watch({watched})
        {body}
    g = tape.gradient({last}, {input})
h = outer.jacobian(g, {input}{parallel})
"""
FORWARD = """
with tf.autodiff.ForwardAccumulator({input}, {tangent}) as acc:
    {body}
g = acc.jvp({last}{zeros})
h = acc.jvp({target})
"""
FORWARD_OF_SEVERAL = """
primals = {watched}
tangents = tf.nest.map_structure(lambda u: 2.0 * tf.ones_like(u), primals)
with tf.autodiff.ForwardAccumulator(primals, tangents) as acc:
    {body}
    k = {step}
g = acc.jvp({last}{zeros})
h = acc.jvp([k, {value}]{zeros2})
"""
FORWARD_LEFT = """
with tf.autodiff.ForwardAccumulator({input}, {tangent}) as acc:
    {body}
k = {step}
g = acc.jvp({last})
h = acc.jvp(k{zeros})
"""
FORWARD_ENTERED_TWICE = """
with tf.autodiff.ForwardAccumulator({input}, {tangent}) as acc:
    {body}
    g = acc.jvp({last})
    with acc:
        h = {step}
"""
FORWARD_OVER_REVERSE = """
with tf.autodiff.ForwardAccumulator({input}, {tangent}) as acc:
    with tf.GradientTape() as tape:
        tape.watch({watched})
        {recorded}
    g = tape.gradient({last}, {input}{given})
h = acc.jvp(g)
k = acc.jvp({last})
"""
REVERSE_OVER_FORWARD = """
with tf.GradientTape() as tape:
    tape.watch({watched})
    with tf.autodiff.ForwardAccumulator({input}, {tangent}) as acc:
        {recorded}
    g = acc.jvp({last})
h = tape.gradient(g, {sources})
"""
FORWARD_OVER_FORWARD = """
with tf.autodiff.ForwardAccumulator({input}, {tangent}) as outer:
    with tf.autodiff.ForwardAccumulator({input}, {tangent}) as acc:
        {body}
    g = acc.jvp({last})
h = outer.jvp(g)
k = outer.jvp({last})
"""
SECOND_QUERY = """
with tf.GradientTape() as tape:
    tape.watch({watched})
    {recorded}
g = tape.{query}({last}, {input})
h = tape.gradient({last}, {sources2})
"""
RESET = """
with tf.GradientTape({options}) as tape:
    tape.watch({watched})
    {recorded}
    tape.reset()
    {watch_again}
    k = {step}
g = tape.gradient(k, {sources})
h = tape.gradient({target}, {sources2})
"""
ENTERED_AGAIN = """
tape = tf.GradientTape({options})
with tape:
    tape.watch({watched})
    {recorded}
between = {step}
with tape:
    k = {step2}
g = tape.gradient([k, between], {sources})
"""
LEFT = """
with tf.GradientTape({options}) as tape:
    tape.watch({watched})
    {recorded}
k = {step}
g = tape.gradient([k, {value}], {sources})
"""
ENTERED_TWICE = """
with tf.GradientTape({options}) as tape:
    tape.watch({watched})
    {recorded}
    with tape:
        k = {step}
g = tape.gradient(k, {sources})
"""
STOPPED = """
with tf.GradientTape({options}) as tape:
    tape.watch({watched})
    {body}
    with tape.stop_recording():
        h = {step}
    k = {step2}
g = tape.gradient([k, h], {sources})
"""
STOPPED_TWICE = """
with tf.GradientTape({options}) as tape:
    tape.watch({watched})
    {body}
    with tape.stop_recording():
        with tape.stop_recording():
            k = {step}
g = tape.gradient(k, {sources})
"""
NEVER_ENTERED = """
tape = tf.GradientTape({options})
with tape.stop_recording():
    {body}
g = tape.gradient({target}, {sources})
"""
ASKED_WHILE_RECORDING = """
with tf.GradientTape({options}) as tape:
    tape.watch({watched})
    {recorded}
    g = tape.gradient({last}, {sources})
    k = {step}
h = tape.gradient(k, {sources2})
"""
OVERLAPPING = """
tape = tf.GradientTape({options})
other = tf.GradientTape()
with tape:
    tape.watch({watched})
    {recorded}
    with other:
        other.watch({watched2})
        k = {step}
with other:
    h = {step2}
g = [tape.gradient([k, {last}], {sources}), other.gradient([h, k], {sources2})]
"""
STOPPED_INSIDE = """
with tf.GradientTape() as outer:
    outer.watch({watched})
    with tf.GradientTape() as tape:
        tape.watch({watched2})
        with tape.stop_recording():
            {body}
        k = {step}
g = tape.gradient(k, {sources})
h = outer.gradient(k, {sources2})
"""
WATCHED_LATE = """
with tf.GradientTape({options}) as tape:
    tape.watch({watched})
    {recorded}
    tape.watch({value})
    k = {step}
g = tape.gradient(k, {sources})
"""
WATCHED_VARIABLES = """
with tf.GradientTape({options}) as tape:
    tape.watch({watched})
    {recorded}
    k = {step}
g = tape.gradient(k, tape.watched_variables())
h = tape.watched_variables()
"""
SYMBOLIC = """
@tf.function
def function({arguments}):
    {body}
    return tf.gradients({target}, {sources2}{symbolic})
g = function({arguments})
"""
SYMBOLIC_TWICE = """
@tf.function
def function({arguments}):
    {body}
    first = tf.gradients({last}, {input})[0]
    return first, tf.gradients(first, {sources2})
g = function({arguments})
"""
SYMBOLIC_IN_A_TAPE = """
@tf.function
def function({arguments}):
    {body}
    return tf.gradients({last}, {input}{symbolic})[0]
with tf.GradientTape() as tape:
    tape.watch({watched})
    g = function({arguments})
h = tape.gradient(g, {input})
"""
HESSIANS = """
@tf.function
def function({arguments}):
    {body}
    return tf.hessians(tf.reduce_sum({last}), {input})
g = function({arguments})
"""
SYMBOLIC_OUTSIDE = """
{body}
g = tf.gradients({target}, {sources})
"""
TAPE_IN_A_FUNCTION = """
@tf.function
def function({arguments}):
    with tf.GradientTape({options}) as tape:
        tape.watch({watched})
        {recorded}
    return tape.gradient({target}, {sources}{given})
g = function({arguments})
"""
JACOBIAN_IN_A_FUNCTION = """
@tf.function
def function({arguments}):
    with tf.GradientTape({options}) as tape:
        tape.watch({watched})
        {recorded}
    return tape.jacobian({last}, {sources}{parallel})
g = function({arguments})
"""
FUNCTION_IN_A_TAPE = """
@{decorator}
def function({arguments}):
    {body}
    return {last}
with tf.GradientTape(persistent=True) as tape:
    tape.watch({watched})
    k = function({arguments})
g = tape.gradient(k, {inputs}{upstream_k})
h = tape.gradient(k, {input}, unconnected_gradients="zero")
"""
FUNCTION_TWICE = """
@{decorator}
def function({arguments}):
    {body}
    return {last}
with tf.GradientTape() as outer:
    outer.watch({watched})
    with tf.GradientTape() as tape:
        tape.watch({watched})
        k = function({arguments})
    g = tape.gradient(k, {input}{upstream_k})
h = outer.gradient(g, {inputs})
"""
FUNCTION_FORWARD = """
@{decorator}
def function({arguments}):
    {body}
    return {last}
with tf.autodiff.ForwardAccumulator({input}, {tangent}) as acc:
    k = function({arguments})
g = acc.jvp(k)
"""
DECLARED = """
@tf.custom_gradient
def function({arguments}):
    {body}
    def grad(upstream{keyword}):
        return {declared}
    return {last}, grad
with tf.GradientTape(persistent=True) as tape:
    tape.watch({watched})
    k = function({arguments})
g = tape.gradient(k, {inputs}{upstream_k})
h = tape.gradient(k, {input}, unconnected_gradients="zero")
"""
DECLARED_TWICE = """
@tf.custom_gradient
def function({arguments}):
    {body}
    def grad(upstream{keyword}):
        return {declared}
    return {last}, grad
with tf.GradientTape() as outer:
    outer.watch({watched})
    with tf.GradientTape() as tape:
        tape.watch({watched})
        k = function({arguments})
    g = tape.gradient(k, {input})
h = outer.gradient(g, {inputs})
"""
DECLARED_FORWARD = """
@tf.custom_gradient
def function({arguments}):
    {body}
    def grad(upstream{keyword}):
        return {declared}
    return {last}, grad
with tf.autodiff.ForwardAccumulator({input}, {tangent}) as acc:
    k = function({arguments})
g = acc.jvp(k)
"""
OF_SLICES = """
with tf.GradientTape() as outer:
    outer.watch({watched})
    with tf.GradientTape({options}) as tape:
        tape.watch({watched})
        {body}
        picked = tf.gather({input}, [1, 0, 1])
    g = tape.gradient([picked, {last}], {input})
    k = tf.gather({input}, [0, 0]) * 2.0
h = outer.gradient([g, k], {sources})
"""

QUERIES = (
    *(ONCE,) * 12,
    *(TWICE,) * 3,
    *(NESTED,) * 5,
    *(INSIDE, THIRD, OF_THE_OUTER_TAPE, JACOBIAN, JACOBIAN, BATCH_JACOBIAN, HESSIAN),
    *(FORWARD, FORWARD, FORWARD_OF_SEVERAL, FORWARD_OVER_REVERSE, REVERSE_OVER_FORWARD),
    *(FORWARD_OVER_FORWARD, FORWARD_LEFT, FORWARD_ENTERED_TWICE),
    *(SECOND_QUERY, RESET, RESET, ENTERED_AGAIN, LEFT, ENTERED_TWICE, STOPPED, STOPPED_TWICE),
    *(NEVER_ENTERED, ASKED_WHILE_RECORDING, OVERLAPPING, STOPPED_INSIDE),
    *(WATCHED_LATE, WATCHED_VARIABLES, WATCHED_VARIABLES),
    *(SYMBOLIC, SYMBOLIC, SYMBOLIC_TWICE, SYMBOLIC_IN_A_TAPE, HESSIANS, SYMBOLIC_OUTSIDE),
    *(TAPE_IN_A_FUNCTION, JACOBIAN_IN_A_FUNCTION, FUNCTION_IN_A_TAPE, FUNCTION_TWICE),
    *(FUNCTION_IN_A_TAPE, FUNCTION_FORWARD, DECLARED, DECLARED, DECLARED_TWICE, DECLARED_FORWARD),
    OF_SLICES,
)
"""Each as often as it is drawn."""
