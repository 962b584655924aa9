"""A durable service: learners behind HTTP, whose labels come late, and an event log as the only truth.

Needs ``pip install 'afterwit[serve]'``.
"""
