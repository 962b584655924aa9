"""More than one machine, on Dask: one learner whose rows are in shards, with its bounds.

Needs ``pip install 'afterwit[cluster]'``.
"""

from afterwit.cluster.mixing import MIXINGS
from afterwit.cluster.record import ClusterRecord
from afterwit.cluster.train import train
from afterwit.cluster.work import Here, local

__all__ = ["MIXINGS", "ClusterRecord", "Here", "local", "train"]
