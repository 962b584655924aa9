"""Files that take their place when they are complete and on the disk; what a killed process leaves is removed."""

import os
import signal
import subprocess
import sys
import time

import pytest

from afterwit.core.files import new_file
from afterwit.errors import InputError
from conftest import environment

WRITING = """
import sys, time
from afterwit.core.files import new_file
with new_file(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""


def started(target):
    process = subprocess.Popen([sys.executable, "-c", WRITING, str(target)], stdout=subprocess.PIPE, env=environment())
    assert process.stdout.readline() == b"writing\n"
    return process


def test_what_a_killed_process_left_is_removed_by_the_next_write(tmp_path):
    # A killed save used to leave its temporary file for ever.
    target = tmp_path / "model"
    target.write_bytes(b"old")
    process = started(target)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert target.read_bytes() == b"old"
    assert len(os.listdir(tmp_path)) == 2
    with new_file(target) as file:
        file.write(b"new")
    assert os.listdir(tmp_path) == ["model"]
    assert target.read_bytes() == b"new"


def test_what_another_process_is_writing_is_left_alone(tmp_path):
    target = tmp_path / "model"
    process = started(target)
    (working,) = os.listdir(tmp_path)
    for name in (target, tmp_path / "another"):
        with new_file(name) as file:
            file.write(b"new")
    assert working in os.listdir(tmp_path)
    process.kill()
    process.wait()
    process.stdout.close()


def test_files_of_other_targets_are_left_alone(tmp_path):
    (tmp_path / ".afterwit-0123456789abcdef-x").touch()
    (tmp_path / ".afterwit-old").touch()
    with new_file(tmp_path / "model") as file:
        file.write(b"new")
    assert len(os.listdir(tmp_path)) == 3


def test_file_and_directory_are_flushed_in_that_order(tmp_path, monkeypatch):
    # Without it, a power failure can leave an empty file under the right name.
    done = []

    def note(descriptor, flush=os.fsync):
        done.append("directory" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file")
        flush(descriptor)

    def renamed(source, target, rename=os.replace):
        done.append("rename")
        rename(source, target)

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(os, "replace", renamed)
    with new_file(tmp_path / "model") as file:
        file.write(b"new")
    assert done == ["file", "rename", "directory"]


def test_a_disk_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "model"
    target.write_bytes(b"old")

    def fail(descriptor):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(InputError, match=r"model: cannot be written \(Input/output error\)"), new_file(target) as file:
        file.write(b"new")
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model"]


def test_many_processes_write_one_file(tmp_path):
    # A process that cleans up must not remove what another has only just begun.
    target = tmp_path / "model"
    script = (
        "import sys\nfrom afterwit.core.files import new_file\n"
        "for _ in range(200):\n    with new_file(sys.argv[1]) as file:\n        file.write(b'whole')\n"
    )
    started = time.time()
    processes = [subprocess.Popen([sys.executable, "-c", script, str(target)], env=environment()) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0], time.time() - started
    assert target.read_bytes() == b"whole"
    assert os.listdir(tmp_path) == ["model"]
