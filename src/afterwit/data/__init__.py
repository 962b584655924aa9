"""What everything reads: rows, advice, labels, losses, checks of options, random draws."""
