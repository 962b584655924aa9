"""From the options of the command line to a service that runs."""

from __future__ import annotations

import threading
from typing import Any

import click

from afterwit.errors import AfterwitError
from afterwit.serve.access import Access, require_loopback
from afterwit.serve.engine import Engine
from afterwit.serve.limits import Limits
from afterwit.serve.logs import Log
from afterwit.serve.running import address_of, bind, run
from afterwit.serve.service import Service
