"""Why a loop over rows stops before a row is learned, and up to what size nothing can overflow."""

from __future__ import annotations

from enum import IntEnum


class Stop(IntEnum):
    """Nothing has changed by the row at which a loop stops."""

    GOING_ON = 0
    #: Its score is not known to be harmless.
    BEYOND_LIMIT = 1
    #: Its update would leave the range of numbers.
    DIVERGED = 2
    #: There is no room for what the algorithm would keep of it.
    NO_ROOM = 3
    #: Its label is wanted, and nobody has told it.
    LABEL_WANTED = 4


#: While values, scores and options are at most this in size, no step changes a number by 1e292, and so what is finite
#: stays finite: half the distance between the two largest numbers is 2^970.
MODERATE = 1e60
