"""Tests of the pure parts: `python3 -m unittest discover benches/fleet`."""

import os
import sqlite3
import sys
import tempfile
import unittest
import xml.dom.minidom

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "comparison")]

import client
import installation
import pings
import report

COUNTED = "watchkeeper_check_lateness_seconds_count"


def counters(**buckets):
    named = {f'{report.LATENESS}{bound}"}}': count for bound, count in buckets.items()}
    return {**named, COUNTED: 100, 'watchkeeper_attempts_shed_total{reason="queue_full"}': 3}


def run(**changed):
    start = {"ready_s": 1.5, "checked_s": 9.0, "memory_bytes": 3_000_000, "progress": [(1.5, 0), (9.0, 1_000)]}
    window = {
        "seconds": 10.0, "cpu_s": 4.0, "memory_bytes": 3_100_000,
        "counters": counters(**{"0.001": 60, "0.005": 99, "+Inf": 100}), "requests": {"read": [1.0, 2.0, 30.0]},
    }
    return {
        "version": "watchkeeper 1 & 2", "services": 1_000, "interval_s": 10, "type": "tcp", "processors": 2,
        "first_start": start, "restart": start, "quiet": window, "busy": window, "wrong": [], "lost": [], "log_lines": 7,
        **changed,
    }


class ReportTest(unittest.TestCase):
    def test_lateness_is_a_bound_that_holds_for_a_part(self):
        shares = report.lateness(counters(**{"0.001": 60, "0.005": 99, "+Inf": 100}))
        rows = [(0.5, 1.0), (0.6, 1.0), (0.61, 5.0), (0.99, 5.0), (0.999, None)]
        for part, expected in rows:
            self.assertEqual(report.bound(shares, part), expected, part)
        self.assertEqual(report.lateness({}), {})

    def test_the_table_has_the_figures(self):
        table = report.table(run(wrong=["it was wrong"], restart={**run()["restart"], "checked_s": None}))
        for text in [
            "| as many checks or pings as services after | 9.0 s | - |", "| memory a service then | 3,000 bytes | 3,000 bytes |",
            "| due | 1,000 | 1,000 |", "| checks | 100 | 100 |", "| missed; shed | 0; 3 | 0; 3 |", "| lateness of 99 % | ≤ 5 ms | ≤ 5 ms |",
            "| lateness of 99.9 % | more than 60 s | more than 60 s |", "| read | 3 | 2.0 | 30.0 | 30.0 |", "1 wrong answers", "- it was wrong",
        ]:
            self.assertIn(text, table)

    def test_heartbeats_have_pings_and_no_busy_window(self):
        window = {**run()["quiet"], "counters": {"pings answered": 990, "pings failed": 10}}
        table = report.table(run(type="heartbeat", quiet=window, busy=None))
        for text in ["| pings | 990 |\n", "| pings that failed | 10 |\n", "| restarts of actors | 0 |\n"]:
            self.assertIn(text, table)
        self.assertNotIn("lateness", table)

    def test_the_picture_is_valid(self):
        picture = xml.dom.minidom.parseString(report.plot(run()))
        self.assertEqual(len(picture.getElementsByTagName("polyline")), 2)


class CopyTest(unittest.TestCase):
    def test_each_copy_has_its_own_id_name_and_secret(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "main.db")
            with sqlite3.connect(path) as database:
                database.execute("CREATE TABLE service (id INTEGER PRIMARY KEY, public_id UNIQUE, name, created_at, kind)")
                database.execute("CREATE TABLE service_tag (service_id, tag_id)")
                database.execute("CREATE TABLE heartbeat (service_id UNIQUE, secret_hash UNIQUE, secret)")
                database.execute("INSERT INTO service VALUES (7, 'first', 'Service 0', 100, 'x')")
                database.execute("INSERT INTO service_tag VALUES (7, 2)")
                database.execute("INSERT INTO heartbeat VALUES (7, x'00', 'sealed')")
            installation.copy_service(path, 50, 10)
            rows = database.execute("SELECT id, public_id, name, created_at, kind FROM service ORDER BY id").fetchall()
            self.assertEqual([row[0] for row in rows], list(range(7, 57)))
            self.assertEqual([row[2] for row in rows], [f"Service {number}" for number in range(50)])
            self.assertTrue(all(len(row[1]) == 21 for row in rows[1:]))
            self.assertEqual((rows[49][3], rows[49][4]), (102, "x"))
            self.assertEqual(database.execute("SELECT count(*), max(service_id), max(tag_id) FROM service_tag").fetchone(), (10, 16, 2))
            self.assertEqual(database.execute("SELECT count(DISTINCT secret_hash) FROM heartbeat").fetchone(), (50,))
            database.close()


class PingsTest(unittest.TestCase):
    def test_a_mark_is_counted_once_however_the_text_is_cut(self):
        text = b"HTTP/1.1 200 OK\r\n\r\n{}HTTP/1.1 404 Not Found\r\n\r\nHTTP/1.1 200 OK"
        for size in range(1, len(text) + 1):
            counter = pings.MarkCounter(b"HTTP/1.1 200")
            pieces = [text[at:at + size] for at in range(0, len(text), size)]
            self.assertEqual(sum(counter.count(piece) for piece in pieces), 2, size)

    def test_a_secret_has_the_form_of_a_real_one(self):
        self.assertRegex(pings.secret(5), "^[A-Za-z0-9_-]{43}$")
        self.assertIn(pings.secret(5).encode(), pings.request(5))


class ClientTest(unittest.TestCase):
    def test_only_what_was_stored_is_compared(self):
        service = {"id": "a", "name": "b", "tags": [], "status": "unknown", "last_check_at": None}
        self.assertEqual(client.stored(service), client.stored({**service, "status": "down", "last_check_at": "now"}))
        self.assertNotEqual(client.stored(service), client.stored({**service, "name": "c"}))

    def test_a_text_is_quoted(self):
        self.assertEqual(client.quoted("Created 1, edited"), "Created+1%2C+edited")


if __name__ == "__main__":
    unittest.main()
