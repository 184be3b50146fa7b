"""Processes of a product as the kernel accounts for them: time, memory, and the size of a folder.

Everything is read from /proc, in the same way for every product. Nothing here starts or judges a product.
"""

import os
import signal
import subprocess
import time

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def stat_fields(pid):
    """Returns the fields of /proc/PID/stat after the name of the program, or None if the process is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def family(pids):
    """Returns the processes `pids` and all their descendants."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        if fields := stat_fields(name):
            children.setdefault(int(fields[1]), []).append(int(name))
    found, left = [], list(pids)
    while left:
        pid = left.pop()
        found.append(pid)
        left.extend(children.get(pid, []))
    return found


def cpu_seconds(pids):
    """Returns the processor time that `pids`, their descendants, and descendants that they waited for have used."""
    ticks = 0
    for pid in family(pids):
        if fields := stat_fields(pid):
            own_and_waited_for = fields[11:15]
            ticks += sum(map(int, own_and_waited_for))
    return ticks / TICKS_PER_SECOND


def machine_cpu_seconds():
    """Returns the processor time that all processes, the kernel and other virtual machines (steal) have used."""
    with open("/proc/stat") as file:
        user, nice, system, _idle, _wait, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND


def resident_bytes(pids):
    """Returns the memory of `pids` and their descendants: shared pages count in proportion (PSS)."""
    total = 0
    for pid in family(pids):
        try:
            with open(f"/proc/{pid}/smaps_rollup") as file:
                total += sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total


def folder_bytes(folder):
    """Returns the bytes that the files of a folder occupy on the disk, without blocks that were never written."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512
            except FileNotFoundError:
                continue
    return total


def start(command, folder, log, environment=None):
    """Starts a process in a session of its own; its output goes to `log`."""
    with open(log, "ab") as file:
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )


def stop(running, seconds=60):
    """Stops processes with SIGTERM; what is still there after `seconds` is killed with its whole session."""
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
    until = time.monotonic() + seconds
    for process in running:
        try:
            process.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
