"""Tests of the pure parts: `python3 -m unittest discover benches/comparison`."""

import array
import os
import sys
import unittest
import xml.dom.minidom

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import figures
import plot
from targets import Requests


def noted(*requests):
    """Returns requests (target, time) as one process of targets writes them."""
    return [(array.array("I", [target for target, _ in requests]), array.array("d", [time for _, time in requests]))]


def run(**changed):
    measured = {
        "product": "A & B", "services": 11, "interval_s": 2, "seconds": 10.0,
        "cpu_s": 0.5, "targets_cpu_s": 0.25, "other_cpu_s": 0.0,
        "memory_bytes": 20 << 20, "memory_bytes_of_one": 10 << 20,
        "disk_growth_bytes": 4096, "checks_between_stops": 64, "services_up": 11,
        "restart": {"seconds": 2.5, "services_asked": 11},
        "window": figures.window(noted((1, 10.0), (1, 12.5)), 10.0, 20.0, 2, 11),
    }
    return figures.derive({**measured, **changed})


class FiguresTest(unittest.TestCase):
    def test_percentiles_are_values_that_occurred(self):
        hundred = list(range(1, 101))
        rows = [([1], 0.5, 1), ([1, 2], 0.5, 1), ([1, 2, 3], 0.5, 2), (hundred, 0.99, 99), ([1, 2], 1.0, 2), ([], 0.5, None)]
        for values, part, expected in rows:
            self.assertEqual(figures.percentile(values, part), expected, (values, part))

    def test_gaps_are_between_requests_of_one_target_inside_the_window(self):
        requests = noted((1, 0.5), (1, 1.0), (2, 1.5), (1, 3.0), (2, 3.25), (1, 9.0))
        self.assertEqual(list(figures.gaps(requests, 1.0, 9.0)), [2.0, 1.75])
        self.assertEqual(list(figures.gaps(requests, 5.0, 9.0)), [])

    def test_a_window_counts_services_that_were_checked_once(self):
        seen = figures.window(noted((1, 0.0), (2, 1.0), (1, 2.5), (3, 4.0)), 0.0, 4.0, 2, 6)
        self.assertEqual((seen["checks"], seen["services_checked"], seen["gaps"]), (3, 2, 1))
        self.assertEqual((seen["checks_per_second"], seen["due_per_second"]), (0.75, 3.0))
        self.assertEqual(seen["deviation_ms"], {"p50": 500.0, "p99": 500.0, "max": 500.0})

    def test_bursts_at_the_edges_of_the_window_do_not_change_the_rate(self):
        bursts = noted((1, 1.0), (2, 1.1), (1, 5.0), (2, 5.1))
        self.assertEqual(figures.window(bursts, 0.0, 8.9, 4, 2)["checks_per_second"], 0.5)

    def test_a_round_ends_when_the_last_target_was_asked_first(self):
        requests = noted((1, 0.5), (2, 1.0), (1, 2.0), (2, 3.0), (1, 4.0))
        self.assertEqual(figures.end_of_round(requests, 1.5), 3.0)
        self.assertIsNone(figures.end_of_round(requests, 5.0))

    def test_costs_are_a_check_and_a_service(self):
        measured = run()
        self.assertEqual(measured["cpu_us_per_check"], 250_000)
        self.assertEqual(measured["checks_per_core_second"], 4)
        self.assertEqual(measured["memory_bytes_per_service"], 1 << 20)
        self.assertEqual(measured["disk_bytes_per_check"], 64)

    def test_memory_that_did_not_grow_has_no_cost_a_service(self):
        self.assertIsNone(run(memory_bytes=9 << 20)["memory_bytes_per_service"])

    def test_numbers_keep_three_digits(self):
        rows = [(None, "–"), (0, "0"), (0.012345, "0.0123"), (1.5, "1.50"), (1234.5, "1,234"), (98765, "98,765")]
        for value, expected in rows:
            self.assertEqual(figures.number(value), expected)

    def test_the_table_names_missing_products_and_unfinished_restarts(self):
        unfinished = run(restart={"seconds": 60.2, "services_asked": 4})
        text = figures.table([run(), unfinished], [("C", "not installed here: install it")])
        self.assertIn("| 2.50 | > 60 (4 of 11 asked) |", text)
        self.assertTrue(text.endswith("\nNot measured: C: not installed here: install it"), text)
        self.assertEqual({line.count("|") for line in text.splitlines() if line.startswith("|")}, {4})


class PlotTest(unittest.TestCase):
    def test_every_product_is_in_every_panel(self):
        text = plot.draw([run(), run(product="C")], "11 services")
        bars = xml.dom.minidom.parseString(text).getElementsByTagName("rect")
        self.assertEqual(len(bars), 1 + 2 * len(plot.PANELS))
        self.assertLess(len(text), 10_000)


class TargetsTest(unittest.TestCase):
    def test_targets_asked_since_a_time_are_counted_once(self):
        requests = Requests()
        for target, time in [(1, 1.0), (2, 2.0), (1, 3.0), (1, 4.0)]:
            requests.targets.append(target)
            requests.times.append(time)
        self.assertEqual([requests.asked_since(start) for start in (0.0, 2.5, 5.0)], [2, 1, 0])


if __name__ == "__main__":
    unittest.main()
