"""A real PostgreSQL in a temporary folder, on a free port of the loopback address.

with Postgres() as server:
    connect(server.address("name"))     # a fresh database
"""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

MISSING = "there is no PostgreSQL: install it (Debian: apt-get install postgresql)"


def programs():
    """The folder of PostgreSQL's programs, or None."""
    here = shutil.which("initdb")
    folders = [Path(here).resolve().parent] if here else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


class Postgres:
    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="afterwit-postgres-"))
        self.data = self.folder / "data"
        if os.getuid() == 0:
            # PostgreSQL refuses to run as root.
            shutil.chown(self.folder, "postgres", "postgres")
        self.run("initdb", "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C")
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = getattr(self, "port", found.getsockname()[1])
        options = f"-h 127.0.0.1 -p {self.port} -k {self.folder}"
        self.run("pg_ctl", "--wait", "--options", options, "--log", str(self.folder / "log"), "start")

    def stop(self, mode="immediate"):
        """As if the power had failed, or cleanly ("fast")."""
        self.run("pg_ctl", "--wait", "--mode", mode, "stop")

    def address(self, name):
        self.run("createdb", "--host=127.0.0.1", f"--port={self.port}", "--username=postgres", name, data=False)
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def run(self, program, *arguments, data=True):
        command = [str(programs() / program), *arguments, *(["--pgdata", str(self.data)] if data else [])]
        if os.getuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=60)
        assert done.returncode == 0, (
            command,
            (self.folder / "log").read_text() if (self.folder / "log").exists() else "",
        )
