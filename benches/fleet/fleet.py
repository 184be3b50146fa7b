#!/usr/bin/env python3
"""Runs one Watchkeeper with very many services, and measures what its operator and the clients of its API get.

    cargo build --release
    benches/fleet/fleet.py --watchkeeper target/release/watchkeeper --services 1000000 --plot .

One run takes about six minutes with a million services:

1.  The first service is created over the API, the others are copies of its row in the embedded database. Heartbeats are pinged
    by another process, each once an interval.
2.  First start: seconds until the server is ready, and until it has made as many checks as there are services.
3.  A quiet window: checks made, their lateness, processor time, memory of the process.
4.  A busy window (not for heartbeats): clients create, read, edit, filter, list and delete services over the API while the checks go on. Each
    answer is compared with what the specification demands. The same requests one after another give the times.
5.  `kill -9` while a client still writes, and another start: the same times, and whether everything acknowledged is there.

Only addresses in 127.0.0.0/8 are requested. Nothing is left behind, unless you pass --keep.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "comparison"))

import client
import installation
import report


def options():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--watchkeeper", required=True, metavar="FILE", help="the program to run")
    parser.add_argument("--services", type=int, default=100_000, help="number of services")
    parser.add_argument("--interval", type=int, default=60, help="seconds between two checks of a service")
    parser.add_argument("--type", choices=["tcp", "heartbeat"], default="tcp", help="what the services check; heartbeats are pinged")
    parser.add_argument("--seconds", type=int, default=60, help="length of each window")
    parser.add_argument("--tagged", type=int, default=1_000, help="services with a tag, for the filters")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to this file")
    parser.add_argument("--plot", metavar="FOLDER", help="also draw fleet-SERVICES-INTERVALs.svg there")
    parser.add_argument("--keep", action="store_true", help="keep the folder of the installation")
    chosen = parser.parse_args()
    if not shutil.which(chosen.watchkeeper):
        parser.error(f"{chosen.watchkeeper} is not a program; build it with `cargo build --release`")
    if chosen.services < 100 or chosen.tagged > chosen.services // 2:
        parser.error("--services must be at least 100, and --tagged at most half of it")
    return chosen


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def measure_start(server, chosen, name):
    """Starts the server; returns the times until it is ready and until it has made a check for each service."""
    started, earlier = time.monotonic(), server.pings().get("pings answered", 0)
    server.start()
    server.wait_until_ready()
    ready = time.monotonic() - started
    say(f"{name}: ready after {ready:.1f} s")
    progress, checked = [(ready, server.checks() - earlier)], None
    while checked is None:
        time.sleep(0.5)
        seconds, checks = time.monotonic() - started, server.checks() - earlier
        progress.append((seconds, checks))
        if checks >= chosen.services:
            checked = seconds
        elif seconds > 10 * chosen.interval + 600:
            raise SystemExit(f"only {checks} checks after {seconds:.0f} s; the server said:\n{server.end_of_log()}")
    say(f"{name}: {chosen.services} {'pings' if server.pinger else 'checks'} after {checked:.1f} s")
    return {"ready_s": ready, "checked_s": checked, "progress": progress, "memory_bytes": server.memory()}


def measure_window(server, chosen, during=None):
    """Returns the difference of the server's figures over a window, and what `during` returned."""
    before, cpu, began = server.metrics(), server.cpu_seconds(), time.monotonic()
    found = during(began + chosen.seconds) if during else time.sleep(chosen.seconds)
    seconds = time.monotonic() - began
    after = server.metrics()
    window = {name: after[name] - before.get(name, 0) for name in after}
    return {
        "seconds": seconds,
        "cpu_s": server.cpu_seconds() - cpu,
        "memory_bytes": server.memory(),
        "counters": window,
        "requests": found,
    }


def run(chosen, folder):
    say(f"preparing {chosen.services} services in {folder}")
    server = installation.Server(shutil.which(chosen.watchkeeper), folder, chosen)
    try:
        tag = server.prepare()
        first = measure_start(server, chosen, "first start")
        say(f"settling, then a quiet window of {chosen.seconds} s")
        time.sleep(chosen.interval)
        quiet = measure_window(server, chosen)
        api, busy = client.Client(server.port, server.token(), tag, chosen), None
        # Copies of a heartbeat have the ping address of the first one, sealed for it: the API cannot show them.
        if chosen.type != "heartbeat":
            say(f"a busy window of {chosen.seconds} s")
            busy = measure_window(server, chosen, api.work)
        say("kill -9 while a client writes")
        api.write_until_it_fails(lambda: server.kill())
        again = measure_start(server, chosen, "restart")
        lost = api.compare_with_acknowledged()
        log_lines = server.log_lines()
    finally:
        server.stop()
    return {
        "version": server.version(), "services": chosen.services, "interval_s": chosen.interval, "type": chosen.type,
        "processors": os.cpu_count(), "first_start": first, "restart": again, "quiet": quiet, "busy": busy,
        "wrong": api.wrong, "lost": lost, "log_lines": log_lines,
    }


def main():
    chosen = options()
    folder = tempfile.mkdtemp(prefix="watchkeeper-fleet-")
    try:
        figures = run(chosen, folder)
    finally:
        if chosen.keep:
            say(f"kept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump(figures, file, indent=1)
    print(report.table(figures))
    if chosen.plot:
        path = os.path.join(chosen.plot, f"fleet-{chosen.services}-{chosen.interval}s.svg")
        with open(path, "w") as file:
            file.write(report.plot(figures))
        say(f"drew {path}")
    sys.exit(1 if figures["wrong"] or figures["lost"] else 0)


if __name__ == "__main__":
    main()
