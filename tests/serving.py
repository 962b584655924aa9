"""Engines of services for tests: started, asked, restarted, and compared with their logs."""

import json
from pathlib import Path

from afterwit.serve.engine import Engine
from afterwit.serve.exporting import parquet, read_exported
from afterwit.serve.operations import Create, Label, Learn, Predict
from afterwit.serve.replay import replay
from afterwit.serve.spec import to_file


class Serving:
    """An engine that runs, on a database that stays when it ends."""

    def __init__(self, address, **options):
        self.address, self.options, self.said = address, {"commit_every": 0.0, **options}, []
        self.engine = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.end()

    def start(self):
        self.engine = Engine(
            self.address, log=lambda event, **fields: self.said.append((event, fields)), **self.options
        )
        self.engine.start()
        assert self.engine.wait_until("ready", "failed") == "ready", self.said

    def end(self, snapshot=True):
        """Stop; without a last snapshot, as if it had been killed between two commits."""
        if self.engine is None:
            return
        if not snapshot:
            self.engine._writer._snapshot_all = lambda: None
        self.engine.stop()
        self.engine = None

    def restart(self, snapshot=True):
        self.end(snapshot)
        self.start()

    def do(self, operation):
        return self.engine.submit(operation).result(60)

    def create(self, name, learner, options=None, schema=None):
        return self.do(Create(name, learner, options or {}, schema))

    def predict(self, name, *items):
        return self.do(Predict(name, list(items)))

    def label(self, name, *items):
        return self.do(Label(name, list(items)))

    def learn(self, name, *items):
        return self.do(Learn(name, list(items)))

    def outcomes(self, answers):
        return [each["outcome"] for each in answers]

    def hosted(self, name):
        return self.engine._writer.models[name]

    def state(self, name):
        """All that there is of a model, to the bit."""
        hosted = self.hosted(name)
        return self.engine.file(name), json.dumps(hosted.progress.state()), hosted.n, hosted.frozen

    def replayed(self, name, folder, parquet_too=True):
        """The same from its exported log, played without an engine; every prediction is looked at."""
        lines = Path(folder, f"{name}.jsonl")
        lines.write_text("".join(json.dumps(event) + "\n" for event in self.engine.log(name)))
        paths = [lines]
        if parquet_too:
            paths.append(Path(folder, f"{name}.parquet"))
            paths[-1].write_bytes(parquet(self.engine.log(name)))
        states = []
        for path in paths:
            found = replay(read_exported(str(path)), name)
            assert found.different == []
            hosted = found.hosted
            states.append((to_file(hosted.model), json.dumps(hosted.progress.state()), hosted.n, hosted.frozen))
        assert all(state == states[0] for state in states)
        return states[0]
