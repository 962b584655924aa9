# The C side of turns.py: the lock of compiled learners, and the clock of their loops.

cimport cython


cdef class Mutex:
    cdef cython.pymutex held


cdef class Lock:
    cdef Mutex _mutex
    cdef bint _reentrant
    # The thread that holds it, and how often; 0 if nobody does.
    cdef long long _owner
    cdef int _depth
    # The number of the process, in forks since the start, in which it was last used.
    cdef long long _process

    cdef int acquire(self) except -1
    cdef void release(self) noexcept


cdef int begin_rounds() except -1
cdef void end_rounds() noexcept
cdef double seconds() noexcept nogil
