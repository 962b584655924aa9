# The C side of learner.py: what compiled learners derive from.

cimport cython


cdef class Storable:
    # The options, checked, by name; learners that are not compiled read them too.
    cdef public dict _options


cdef class BinaryLearner(Storable):
    cdef object _labels
    cdef dict _signs
    cdef cython.pymutex _lock
    cdef long long _rounds
    cdef long long _mistakes
    cdef long long _updates
