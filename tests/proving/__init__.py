"""The search for a run that breaks a theorem: sequences made to be hard, and oracles that judge every certificate.

`judging` says when a certificate is wrong, `searching` runs the sequences, and the other modules have, for each family,
the sequences and what is true of them. What is true is computed from the data and from the forecasts that were made, by
means that know nothing of the package.
"""
