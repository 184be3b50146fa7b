"""The figures of a run as a table and as a picture. Pure."""

from html import escape

LATENESS = 'watchkeeper_check_lateness_seconds_bucket{le="'
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 330, 70, 20, 56, 46
COLOURS = {"first_start": ("#2563eb", "first start"), "restart": ("#b45309", "restart after kill -9")}


def lateness(counters):
    """Returns for each bound in milliseconds the part of the checks that started at most so late."""
    bounds = {name[len(LATENESS):-2]: count for name, count in counters.items() if name.startswith(LATENESS)}
    total = bounds.pop("+Inf", 0)
    return {float(bound) * 1000: count / total for bound, count in sorted(bounds.items(), key=lambda row: float(row[0]))} if total else {}


def bound(shares, part):
    """Returns the smallest bound in milliseconds that holds for this part of the checks, or None."""
    return next((limit for limit, share in shares.items() if share >= part), None)


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def total(counters, prefix):
    return sum(value for name, value in counters.items() if name.startswith(prefix))


def at_most(milliseconds):
    return "more than 60 s" if milliseconds is None else f"≤ {milliseconds:,.0f} ms"


def seconds(value):
    return "-" if value is None else f"{value:.1f} s"


def starts(run):
    first, again, services = run["first_start"], run["restart"], run["services"]
    yield "ready after", seconds(first["ready_s"]), seconds(again["ready_s"])
    yield "as many checks or pings as services after", seconds(first["checked_s"]), seconds(again["checked_s"])
    yield "memory a service then", *(f"{start['memory_bytes'] / services:,.0f} bytes" for start in (first, again))


def windows(run):
    found = [run["quiet"], *([run["busy"]] if run["busy"] else [])]

    def row(name, value):
        return name, *map(value, found)

    counted = "pings answered" if run["type"] == "heartbeat" else "watchkeeper_check_lateness_seconds_count"
    yield row("seconds", lambda found: f"{found['seconds']:.1f}")
    yield row("pings" if run["type"] == "heartbeat" else "checks", lambda found: f"{found['counters'].get(counted, 0):,.0f}")
    yield row("due", lambda found: f"{run['services'] * found['seconds'] / run['interval_s']:,.0f}")
    for part in () if run["type"] == "heartbeat" else (0.5, 0.99, 0.999):
        yield row(f"lateness of {100 * part:g} %", lambda found: at_most(bound(lateness(found["counters"]), part)))
    yield row("missed; shed", lambda found: f"{total(found['counters'], 'watchkeeper_runs_missed_total'):,.0f}; "
              f"{total(found['counters'], 'watchkeeper_attempts_shed_total'):,.0f}")
    if run["type"] == "heartbeat":
        yield row("pings that failed", lambda found: f"{found['counters'].get('pings failed', 0):,.0f}")
    yield row("restarts of actors", lambda found: f"{total(found['counters'], 'watchkeeper_restarts_total'):,.0f}")
    yield row("processor time of the server", lambda found: f"{found['cpu_s']:.1f} s of {run['processors'] * found['seconds']:.0f} s")
    yield row("memory a service", lambda found: f"{found['memory_bytes'] / run['services']:,.0f} bytes")


def requests(run):
    for name, times in sorted((run["busy"] or {"requests": {}})["requests"].items()):
        yield name, f"{len(times):,}", *(f"{percentile(times, part):,.1f}" for part in (0.5, 0.99, 1))


def rows(heading, found):
    found = [heading, *found]
    lines = ["| " + " | ".join(row) + " |" for row in found]
    return "\n".join([lines[0], "|---" * len(heading) + "|", *lines[1:]])


def table(run):
    parts = [
        f"{run['version']}: {run['services']:,} services of type {run['type']} every {run['interval_s']} s, {run['processors']} processors",
        rows(("", "first start", "restart after kill -9"), starts(run)),
        rows(("", "quiet window", *(["busy window"] if run["busy"] else [])), windows(run)),
        *([rows(("request", "number", "p50 ms", "p99 ms", "max ms"), requests(run))] if run["busy"] else []),
        f"{len(run['wrong']):,} wrong answers; {len(run['lost'])} acknowledged changes lost; {run['log_lines']} lines in the log",
        *(f"- {text}" for text in [*run["wrong"], *run["lost"]][:20]),
    ]
    return "\n\n".join(parts)


def plot(run):
    """Draws how many checks were made since the start of the process, for both starts."""
    services, interval = run["services"], run["interval_s"]
    longest = max(2 * interval, *(run[name]["progress"][-1][0] for name in COLOURS))
    most = max(services, *(run[name]["progress"][-1][1] for name in COLOURS))

    def x(at):
        return LEFT + (WIDTH - LEFT - RIGHT) * at / longest

    def y(checks):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * checks / most

    title = f"Checks since the start: {services:,} services every {interval} s, {run['processors']} processors"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13"'
        f' fill="#111827" role="img"><title>{escape(title)}</title>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="white"/>',
        f'<text x="{LEFT - 50}" y="28" font-size="16" font-weight="bold">{escape(title)}</text>',
        f'<line x1="{LEFT}" y1="{y(0)}" x2="{WIDTH - RIGHT}" y2="{y(0)}" stroke="#9ca3af"/>',
        f'<line x1="{LEFT}" y1="{y(services)}" x2="{WIDTH - RIGHT}" y2="{y(services)}" stroke="#9ca3af" stroke-dasharray="4"/>',
        f'<text x="{LEFT - 6}" y="{y(services) + 4}" text-anchor="end">{services // 1000:,} k</text>',
        f'<line x1="{x(interval)}" y1="{y(0)}" x2="{x(interval)}" y2="{TOP}" stroke="#9ca3af" stroke-dasharray="4"/>',
        f'<text x="{x(interval)}" y="{y(0) + 18}" text-anchor="middle">{interval} s: one interval</text>',
        f'<text x="{x(0)}" y="{y(0) + 18}" text-anchor="middle">0</text>',
    ]
    for rank, (name, (colour, label)) in enumerate(COLOURS.items()):
        points = " ".join(f"{x(at):.1f},{y(checks):.1f}" for at, checks in [(0, 0), *run[name]["progress"]])
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        row = TOP + 16 + 20 * rank
        parts.append(f'<line x1="{LEFT + 12}" y1="{row - 4}" x2="{LEFT + 36}" y2="{row - 4}" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{LEFT + 44}" y="{row}">{escape(label)}</text>')
    return "\n".join(parts) + "\n</svg>\n"
