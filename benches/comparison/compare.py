#!/usr/bin/env python3
"""Compare Watchkeeper with other monitors on this machine.

Starts local HTTP targets, then each product by itself in an empty folder, with the same services at the same interval.
The targets note every request, so that rates and gaps are measured from outside, equally for all products. Processor
time, memory and disk are read from the kernel. Only addresses in 127.0.0.0/8 are asked. Everything is stopped and
removed at the end.

For each product, in this order:
  1. start it with one service, read its memory, stop it;
  2. start it with all services, and wait until each was checked once;
  3. stop it, start it again, and wait until each service was checked again, for at most --restart-seconds;
  4. stop it, read the size of its folder, start it, and wait until each service was checked, and one interval more;
  5. measure for --seconds;
  6. stop it, read the size of its folder again, and remove it.

install (Debian 12):
  apt-get install --no-install-recommends prometheus prometheus-blackbox-exporter monit
  apt-get install nodejs npm build-essential; npm install uptime-kuma      (pass --uptime-kuma)
  cargo build --release                                                     (pass --watchkeeper)

examples:
  compare.py --list
  compare.py --watchkeeper target/release/watchkeeper --services 1000 --interval 20 --json figures.json --plot .
  compare.py --show figures.json
"""

import argparse
import json
import os
import platform
import shutil
import signal
import sys
import tempfile
import time

import figures
import plot
import processes
from products import PRODUCTS, NotInstalled
from targets import TargetGroup

STARTED = time.monotonic()


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--watchkeeper", metavar="PATH", default="watchkeeper",
                        help="program of Watchkeeper [watchkeeper on the PATH]")
    parser.add_argument("--uptime-kuma", metavar="FOLDER", default="node_modules/uptime-kuma",
                        help="package of Uptime Kuma [node_modules/uptime-kuma]")
    parser.add_argument("--services", metavar="N", type=int, default=1000, help="services that each product checks [1000]")
    parser.add_argument("--interval", metavar="S", type=int, default=20,
                        help="seconds between two checks of a service [20]; Uptime Kuma allows no less than 20")
    parser.add_argument("--seconds", metavar="S", type=float, default=60, help="length of the measurement [60]")
    parser.add_argument("--restart-seconds", metavar="S", type=float, default=60,
                        help="how long to wait after a restart for the last service [60]")
    parser.add_argument("--only", metavar="PRODUCT", nargs="+", choices=PRODUCTS, default=list(PRODUCTS),
                        help="products to measure: " + ", ".join(PRODUCTS))
    parser.add_argument("--json", metavar="FILE", help="write all figures as JSON")
    parser.add_argument("--plot", metavar="FOLDER", help="write bar charts as SVG, named by services and interval")
    parser.add_argument("--list", action="store_true", help="list the products and whether they are installed, and stop")
    parser.add_argument("--show", metavar="FILE", nargs="+",
                        help="measure nothing: read figures that --json wrote; of each product the last run is shown")
    chosen = parser.parse_args()
    if chosen.services < 2 or chosen.interval < 1 or chosen.seconds < 1:
        parser.error("use at least 2 services, an interval of at least 1 second, and at least 1 second")
    return chosen


def say(text):
    print(f"{time.monotonic() - STARTED:6.1f} s  {text}", file=sys.stderr, flush=True)


def machine():
    """Returns what a reader needs to judge the figures."""
    with open("/proc/cpuinfo") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    return {"cores": os.cpu_count(), "processor": models[0] if models else platform.machine(), "system": system,
            "kernel": platform.release(), "python": platform.python_version()}


def wait_for_all(targets, product, services, since, seconds):
    """Waits until all services were asked after `since`; returns the number that were."""
    until = time.monotonic() + seconds
    while True:
        asked = targets.asked_since(since)
        if asked >= services or time.monotonic() > until:
            return asked
        product.require_running()
        time.sleep(0.5)


def memory_of_one(kind, folder, targets, chosen):
    """Returns the memory of the product with a single service that was checked at least once."""
    product = kind(folder, targets.all_addresses(1), chosen.interval)
    try:
        product.prepare()
        begun = time.monotonic()
        product.start()
        product.fill()
        if not wait_for_all(targets, product, 1, begun, chosen.interval + 30):
            raise RuntimeError(f"no request arrived from it. The last lines of its log:\n{product.end_of_log()}")
        time.sleep(5)
        return processes.resident_bytes(product.pids())
    finally:
        product.stop()
        targets.forget()


def check_all(product, targets, chosen, since):
    """Waits until a started product has checked all services; returns how many it has."""
    asked = wait_for_all(targets, product, chosen.services, since, 2 * chosen.interval + 60)
    if not asked:
        raise RuntimeError(f"no request arrived from it. The last lines of its log:\n{product.end_of_log()}")
    return asked


def measure_restart(product, targets, chosen):
    """Stops and starts the product; returns the seconds until all services were checked again, or how many were."""
    begin = time.monotonic()
    product.stop()
    stopped = time.monotonic()
    product.start(restarted=True)
    started = time.monotonic()
    asked = wait_for_all(targets, product, chosen.services, stopped, chosen.restart_seconds - (started - begin))
    last = figures.end_of_round(targets.requests()[0], stopped)
    seconds = last - begin if asked >= chosen.services else time.monotonic() - begin
    return {"seconds": seconds, "stop_s": stopped - begin, "ready_s": started - stopped, "services_asked": asked}


def cpu_times(product, targets):
    """Returns the processor time used so far by the product, by the targets, and by the whole machine."""
    return [processes.cpu_seconds(product.pids()), processes.cpu_seconds(targets.pids()), processes.machine_cpu_seconds()]


def measure_window(product, targets, chosen):
    """Returns the figures of one window of a running product."""
    before, begin = cpu_times(product, targets), time.monotonic()
    time.sleep(chosen.seconds)
    end, after = time.monotonic(), cpu_times(product, targets)
    product.require_running()
    memory = processes.resident_bytes(product.pids())
    noted, connections = targets.requests()
    cpu, targets_cpu, machine_cpu = (late - early for late, early in zip(after, before))
    return {
        "seconds": end - begin,
        "window": figures.window(noted, begin, end, chosen.interval, chosen.services),
        "cpu_s": cpu,
        "targets_cpu_s": targets_cpu,
        "other_cpu_s": machine_cpu - cpu - targets_cpu,
        "memory_bytes": memory,
        "services_up": product.services_up(),
        "connections_in_all": connections,
        "details": product.details(),
    }


def checks_so_far(targets):
    return sum(len(times) for _, times in targets.requests()[0])


def measure(kind, targets, chosen, folder):
    """Returns all figures of one product."""
    say(f"{kind.name}: with one service")
    one, all_of_them = os.path.join(folder, "one"), os.path.join(folder, "all")
    os.mkdir(one)
    os.mkdir(all_of_them)
    of_one = memory_of_one(kind, one, targets, chosen)
    product = kind(all_of_them, targets.all_addresses(chosen.services), chosen.interval)
    try:
        say(f"{kind.name}: start with {chosen.services:,} services every {chosen.interval} s")
        product.prepare()
        targets.forget()
        begun = time.monotonic()
        product.start()
        product.fill()
        fill_seconds = time.monotonic() - begun
        say(f"{kind.name}: {check_all(product, targets, chosen, begun):,} services were checked; restart")
        restart = measure_restart(product, targets, chosen)
        product.stop()
        disk, checks = processes.folder_bytes(product.data), checks_so_far(targets)
        begun = time.monotonic()
        product.start()
        asked = check_all(product, targets, chosen, begun)
        say(f"{kind.name}: {asked:,} services were checked; measuring for {chosen.seconds:g} s after one interval more")
        time.sleep(chosen.interval)
        figures_of_window = measure_window(product, targets, chosen)
        product.stop()
        checks_between_stops = checks_so_far(targets) - checks
        disk_growth = processes.folder_bytes(product.data) - disk
        say(f"{kind.name}: {figures_of_window['window']['checks_per_second']:.1f} checks/s")
        if (others := figures_of_window["other_cpu_s"] / figures_of_window["seconds"]) > 0.2:
            say(f"{kind.name}: warning: others used {100 * others:.0f} % of a processor meanwhile; repeat it with --only")
        return figures.derive({
            "product": kind.name,
            "version": kind.found_version,
            "stores": kind.stores,
            "services": chosen.services,
            "interval_s": chosen.interval,
            "fill_s": fill_seconds,
            "memory_bytes_of_one": of_one,
            **figures_of_window,
            "restart": restart,
            "restart_note": kind.restart_note,
            "disk_growth_bytes": disk_growth if kind.stores_checks else None,
            "checks_between_stops": checks_between_stops,
        })
    finally:
        product.stop()
        targets.forget()


def installed(chosen):
    """Returns the classes of the products that can be measured, and why others cannot."""
    found, missing = [], []
    for kind in PRODUCTS.values():
        try:
            kind.found_version = kind.version(chosen)
            found.append(kind)
        except NotInstalled as reason:
            missing.append((kind.name, f"not installed here: {reason}"))
    return found, missing


def compare(chosen):
    """Measures all chosen products and returns the report."""
    found, missing = installed(chosen)
    wanted = [PRODUCTS[name] for name in chosen.only]
    missing = [(name, reason) for name, reason in missing if name in [kind.name for kind in wanted]]
    for name, reason in missing:
        say(f"{name}: {reason}")
    report = {"machine": machine(), "seconds": chosen.seconds, "date": time.strftime("%Y-%m-%d"), "runs": []}
    top = tempfile.mkdtemp(prefix="comparison-")
    targets = TargetGroup(chosen.services, top)
    try:
        report["targets_per_second"] = targets.capacity()
        say(f"the targets answer {report['targets_per_second']:,.0f} requests/s to clients in Python on the same machine")
        for kind in (kind for kind in wanted if kind in found):
            folder = tempfile.mkdtemp(prefix=f"{kind.__name__}-", dir=top)
            if chosen.interval < kind.shortest_interval:
                missing.append((kind.name, f"its shortest interval is {kind.shortest_interval} s"))
                continue
            try:
                report["runs"].append(measure(kind, targets, chosen, folder))
            except Exception as error:  # the figures of the other products must not be lost
                say(f"{kind.name}: {error}")
                missing.append((kind.name, f"failed: {(str(error) or repr(error)).splitlines()[0]}"))
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        targets.stop()
        shutil.rmtree(top, ignore_errors=True)
    return {**report, "missing": missing}


def read(paths):
    """Returns one report of the files: of each product its last run."""
    reports = []
    for path in paths:
        with open(path) as file:
            reports.append(json.load(file))
    runs = {run["product"]: run for report in reports for run in report["runs"]}
    if len({(run["services"], run["interval_s"]) for run in runs.values()}) > 1:
        sys.exit("these files are of different services or intervals: show them one by one")
    missing = {name: reason for report in reports for name, reason in report["missing"] if name not in runs}
    return {**reports[0], "runs": list(runs.values()), "missing": list(missing.items())}


def show(report, chosen):
    """Prints the table, and writes the files that were asked for."""
    found = report["machine"]
    print(f"{report['date']}, {found['cores']} processors ({found['processor']}), {found['system']}, Linux {found['kernel']}")
    for run in report["runs"]:
        print(f"{run['product']} {run['version']} stores {run['stores']}")
        if run["restart_note"]:
            print(f"{run['product']} after a restart: {run['restart_note']}")
    print("\n" + figures.table(report["runs"], report["missing"]))
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump(report, file, indent=1)
    if chosen.plot and report["runs"]:
        first = report["runs"][0]
        name = f"comparison-{first['services']}-{first['interval_s']}s.svg"
        title = f"{first['services']:,} HTTP services, each checked every {first['interval_s']} s"
        os.makedirs(chosen.plot, exist_ok=True)
        with open(os.path.join(chosen.plot, name), "w") as file:
            file.write(plot.draw(report["runs"], title))


def main():
    chosen = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped: SIGTERM arrived; everything that was started is stopped"))
    if chosen.list:
        found, missing = installed(chosen)
        for kind in found:
            print(f"{kind.name} {kind.found_version}")
        for name, reason in missing:
            print(f"{name}: {reason}")
        return 0
    report = read(chosen.show) if chosen.show else compare(chosen)
    show(report, chosen)
    return 1 if report["missing"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped by Ctrl-C; everything that was started is stopped")
