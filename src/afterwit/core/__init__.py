"""The learner, the protocol and its record, theorems and certificates, storage, and the registry of all learners."""
