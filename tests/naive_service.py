"""The protocol of a service in a few lines: what becomes of predictions, labels and examples. Learns nothing itself."""


class NaiveService:
    def __init__(self):
        self.x, self.y, self.learned, self.examples = {}, {}, [], set()

    def predict(self, key, x):
        return "conflict" if self.x.setdefault(key, x) != x else "served"

    def label(self, key, y):
        if key not in self.x:
            return "unknown"
        if key not in self.y:
            self.y[key] = y
            self.learned.append((self.x[key], y))
            return "learned"
        return "known" if self.y[key] == y else "conflict"

    def learn(self, key, x, y):
        if key in self.x:
            return "known" if (self.x[key], self.y.get(key), key in self.examples) == (x, y, True) else "conflict"
        self.x[key] = x
        self.examples.add(key)
        return self.label(key, y)
