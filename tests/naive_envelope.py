"""The pieces of a curve, found by looking at all of its numbers at once."""


def pieces(numbers, most):
    """The least, the largest and the last number of each piece, and where it ends."""
    width = 1
    while len(numbers) > width * most:
        width *= 2
    found = []
    for start in range(0, len(numbers), width):
        part = numbers[start : start + width]
        there = [number for number in part if number == number]
        low, high = (min(there), max(there)) if there else (float("inf"), float("-inf"))
        found.append((start + len(part), low, high, part[-1]))
    return found
