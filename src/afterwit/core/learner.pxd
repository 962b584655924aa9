# The C side of learner.py: what compiled learners derive from.

from afterwit.core.turns cimport Lock


cdef class Storable:
    # The options, checked, by name; learners that are not compiled read them too.
    cdef public dict _options


cdef class BinaryLearner(Storable):
    cdef object _labels
    cdef dict _signs
    # Whether it was made without labels and has learned none.
    cdef readonly bint _undecided
    cdef Lock _lock
    cdef long long _rounds
    cdef long long _mistakes
    cdef long long _updates
    # Its features are the ids of libsvm text, not columns counted from 0; learners that are not compiled set it too.
    cdef public bint _by_id
