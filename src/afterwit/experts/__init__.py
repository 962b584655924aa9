"""Expert advice: one forecast, provably nearly as good as the best of many."""
