"""More than one machine, on Dask: races, committees and groups as on one machine; and one learner over shards of rows.

Needs ``pip install 'afterwit[cluster]'``.
"""

from afterwit.cluster.committees import committee
from afterwit.cluster.groups import GroupRun, groups
from afterwit.cluster.mixing import MIXINGS
from afterwit.cluster.races import race, sweep
from afterwit.cluster.record import ClusterRecord
from afterwit.cluster.train import train
from afterwit.cluster.work import Here, local

__all__ = ["MIXINGS", "ClusterRecord", "GroupRun", "Here", "committee", "groups", "local", "race", "sweep", "train"]
