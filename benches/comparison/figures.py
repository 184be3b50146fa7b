"""Figures of a run from the requests that the targets noted. Pure: no files, no clock, no processes."""

import array
import collections
import math


def percentile(ordered, part):
    """Returns the smallest of the sorted values that at least `part` (0 to 1) of them do not exceed; None without values."""
    if not ordered:
        return None
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]


def gaps(noted, start, end):
    """Returns the gaps in seconds between successive requests of the same target, both between `start` and `end`.

    `noted` is a list of (targets, times) in the order of time; a target occurs in one of them only.
    """
    found = array.array("d")
    for targets, times in noted:
        last = {}
        for target, time in zip(targets, times):
            if not start <= time < end:
                continue
            if target in last:
                found.append(time - last[target])
            last[target] = time
    return found


def window(noted, start, end, interval, services):
    """Returns what the targets saw between `start` and `end`: rates, coverage, and deviations of the gaps in ms.

    The rate is the number of services divided by their mean gap: a product that checks everything in bursts has
    a burst more or less in the window. Where a service has no gap, it is the number of checks divided by the time.
    """
    inside = [target for targets, times in noted for target, time in zip(targets, times) if start <= time < end]
    checks_of_service = collections.Counter(inside)
    has_all_gaps = sum(count > 1 for count in checks_of_service.values()) == services
    found = gaps(noted, start, end)
    mean_gap = per(sum(found), len(found))
    deviations = sorted(abs(gap - interval) * 1e3 for gap in found)
    return {
        "checks": len(inside),
        "checks_per_second": services / mean_gap if has_all_gaps else len(inside) / (end - start),
        "due_per_second": services / interval,
        "services_checked": len(checks_of_service),
        "gaps": len(found),
        "mean_gap_s": mean_gap,
        "deviation_ms": {
            "p50": percentile(deviations, 0.50),
            "p99": percentile(deviations, 0.99),
            "max": percentile(deviations, 1.0),
        },
    }


def end_of_round(noted, since):
    """Returns when the last target was asked for the first time at or after `since`; None if there was no request."""
    firsts = {}
    for targets, times in noted:
        for target, time in zip(targets, times):
            if time >= since:
                firsts.setdefault(target, time)
    return max(firsts.values(), default=None)


def per(amount, count):
    """Returns the quotient, or None where it means nothing."""
    return amount / count if amount is not None and count else None


def derive(measured):
    """Adds the figures that follow from others to a measured run, and returns it."""
    seen = measured["window"]
    cpu_us = per(measured["cpu_s"] * 1e6, seen["checks"])
    added = measured["memory_bytes"] - measured["memory_bytes_of_one"]
    measured["cpu_us_per_check"] = cpu_us
    measured["cpu_s_per_1000_checks"] = per(measured["cpu_s"] * 1e3, seen["checks"])
    measured["checks_per_core_second"] = per(1e6, cpu_us)
    measured["memory_bytes_per_service"] = per(added, measured["services"] - 1) if added > 0 else None
    measured["disk_bytes_per_check"] = per(measured["disk_growth_bytes"], measured["checks_between_stops"])
    return measured


def number(value, digits=3):
    """Formats with thousands separators and at least `digits` significant digits; a dash for None."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def mib(value):
    return number(value / 2**20) if value is not None else "–"


def restart(measured):
    found = measured["restart"]
    if found["services_asked"] == measured["services"]:
        return number(found["seconds"])
    return f"> {found['seconds']:.0f} ({found['services_asked']:,} of {measured['services']:,} asked)"


def shares(measured):
    names = ("cpu_s", "targets_cpu_s", "other_cpu_s")
    return "; ".join(f"{max(0, 100 * measured[name] / measured['seconds']):.0f}" for name in names)


def deviation(measured):
    found = measured["window"]["deviation_ms"]
    return " / ".join(number(found[name]) for name in ("p50", "p99", "max"))


ROWS = [
    ("checks/s seen by the targets", lambda m: number(m["window"]["checks_per_second"])),
    ("checks/s that were due", lambda m: number(m["window"]["due_per_second"])),
    ("services checked in the window", lambda m: number(m["window"]["services_checked"], 1)),
    ("services that the product calls up", lambda m: number(m["services_up"], 1)),
    ("CPU seconds per 1,000 checks", lambda m: number(m["cpu_s_per_1000_checks"])),
    ("checks per CPU second", lambda m: number(m["checks_per_core_second"])),
    ("gap between checks off by, ms: p50 / p99 / max", deviation),
    ("mean gap, s", lambda m: number(m["window"]["mean_gap_s"], 5)),
    ("memory, MiB", lambda m: mib(m["memory_bytes"])),
    ("memory with one service, MiB", lambda m: mib(m["memory_bytes_of_one"])),
    ("bytes of memory a service", lambda m: number(m["memory_bytes_per_service"])),
    ("bytes on disk a check, between two stops", lambda m: number(m["disk_bytes_per_check"])),
    ("% of a processor used in the window: product; targets; all else", shares),
    ("seconds from stop to every service checked again", restart),
]


def table(runs, missing):
    """Returns a Markdown table: a column for each run, a row for each figure; then a line for each missing product."""
    lines = ["| | " + " | ".join(run["product"] for run in runs) + " |", "|---|" + "---|" * len(runs)]
    for title, text in ROWS:
        lines.append(f"| {title} | " + " | ".join(text(run) for run in runs) + " |")
    lines += [f"\nNot measured: {name}: {reason}" for name, reason in missing]
    return "\n".join(lines)
