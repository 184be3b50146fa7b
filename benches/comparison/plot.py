"""Bar charts of a comparison as one SVG file: a panel for each figure, a bar for each product, axes from zero. Pure."""

from html import escape

import figures

WIDTH, LEFT, RIGHT = 760, 20, 90
LABEL = 222
BAR, BAR_GAP, PANEL_TITLE, PANEL_GAP, TOP = 20, 8, 26, 22, 64
COLOURS = ("#2563eb", "#b45309", "#047857", "#7c3aed", "#be123c")


def deviation(name):
    return lambda run: run["window"]["deviation_ms"][name]


def rate_reached(run):
    return 100 * run["window"]["checks_per_second"] / run["window"]["due_per_second"]


PANELS = [
    ("checks made, % of those that were due", rate_reached),
    ("CPU, µs a check (less is better)", lambda run: run["cpu_us_per_check"]),
    ("gap between two checks off by, ms, 99th percentile (less is better)", deviation("p99")),
    ("memory with all services, MiB (less is better)", lambda run: run["memory_bytes"] / 2**20),
    ("bytes on disk a check, between two stops (less is better)", lambda run: run["disk_bytes_per_check"]),
]


def draw(runs, title):
    """Returns the SVG text; `runs` are derived runs, in the order of the bars."""
    panel_height = PANEL_TITLE + len(runs) * (BAR + BAR_GAP) + PANEL_GAP
    height = TOP + len(PANELS) * panel_height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13"'
        f' fill="#111827" role="img"><title>{escape(title)}</title>',
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="white"/>',
        f'<text x="{LEFT}" y="32" font-size="16" font-weight="bold">{escape(title)}</text>',
    ]
    for rank, (heading, value) in enumerate(PANELS):
        parts.append(panel(runs, heading, value, TOP + rank * panel_height))
    return "\n".join(parts) + "\n</svg>\n"


def panel(runs, heading, value, top):
    values = [value(run) for run in runs]
    most = max((found for found in values if found is not None), default=0) or 1
    room = WIDTH - LEFT - LABEL - RIGHT
    parts = [f'<text x="{LEFT}" y="{top + 12}" font-weight="bold">{escape(heading)}</text>']
    for at, (run, found) in enumerate(zip(runs, values)):
        y = top + PANEL_TITLE + at * (BAR + BAR_GAP)
        length = room * (found or 0) / most
        text = y + BAR - 5
        parts.append(
            f'<text x="{LEFT + LABEL - 8}" y="{text}" text-anchor="end">{escape(run["product"])}</text>'
            f'<rect x="{LEFT + LABEL}" y="{y}" width="{length:.1f}" height="{BAR}" fill="{COLOURS[at % len(COLOURS)]}"/>'
            f'<text x="{LEFT + LABEL + length + 6:.1f}" y="{text}">{figures.number(found)}</text>'
        )
    return "\n".join(parts)
