"""One Watchkeeper in a folder of its own: filled with services, started, killed, and asked for its figures."""

import http.client
import json
import os
import re
import signal
import sqlite3
import string
import subprocess
import time

import pings
import processes
from products import WITHOUT_PROXY, first_line, free_port

ALPHABET = string.ascii_letters + string.digits + "_-"
TAG = {"key": "fleet", "value": "tagged"}
# Large pages, as in the unit for systemd.
ENVIRONMENT = {**WITHOUT_PROXY, "_RJEM_MALLOC_CONF": "thp:always,background_thread:true"}


class Server:
    def __init__(self, program, folder, chosen):
        self.program, self.folder, self.chosen = os.path.abspath(program), folder, chosen
        self.port = free_port()
        self.data, self.log = os.path.join(folder, "data"), os.path.join(folder, "log")
        self.running = self.target = self.pinger = None

    def version(self):
        return first_line([self.program, "--version"])

    def start(self):
        command = [
            self.program, "serve", "--listen", f"127.0.0.1:{self.port}", "--data-dir", self.data,
            "--rate-limit-per-minute", "1000000", "--probe-reference-targets", "none",
        ]
        self.running = processes.start(command, self.folder, self.log, ENVIRONMENT)

    def wait_until_ready(self, seconds=900):
        until = time.monotonic() + seconds
        while self.request("GET", "/readyz")[0] != 200:
            if self.running.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"the server did not start; it said:\n{self.end_of_log()}")
            time.sleep(0.1)

    def request(self, method, path, body=None):
        """Returns the status, 0 without an answer, and the parsed body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {"Content-Type": "application/json"}
        if path.startswith("/v1/"):
            headers["Authorization"] = f"Bearer {self.token()}"
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read().decode()
            return answer.status, json.loads(text) if text.startswith("{") else text
        except (OSError, http.client.HTTPException):
            return 0, ""
        finally:
            connection.close()

    def token(self):
        with open(os.path.join(self.data, "token")) as file:
            return file.read().strip()

    def kill(self):
        os.killpg(self.running.pid, signal.SIGKILL)
        self.running.wait()

    def stop(self):
        if self.pinger:
            self.pinger.stop()
        if self.target:
            self.target.stdin.close()
            self.target.wait()
        if self.running:
            processes.stop([self.running])

    def end_of_log(self):
        with open(self.log, errors="replace") as file:
            return "".join(file.readlines()[-10:])

    def log_lines(self):
        with open(self.log, errors="replace") as file:
            return sum(1 for _ in file)

    def memory(self):
        """The resident memory of the process with what it has of the page cache (RSS), in bytes."""
        with open(f"/proc/{self.running.pid}/status") as file:
            return 1024 * int(re.search(r"^VmRSS:\s+(\d+)", file.read(), re.M)[1])

    def cpu_seconds(self):
        return processes.cpu_seconds([self.running.pid])

    def metrics(self):
        """Returns the counters of the server by their names with labels."""
        status, text = self.request("GET", "/metrics")
        if status != 200:
            raise SystemExit(f"/metrics answered with {status}; the server said:\n{self.end_of_log()}")
        rows = (line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
        return {**{name: float(value) for name, value in rows}, **self.pings()}

    def pings(self):
        """Returns the numbers of pings, if the services are heartbeats."""
        if not self.pinger:
            return {}
        return {"pings answered": self.pinger.answered.value, "pings failed": self.pinger.failed.value}

    def checks(self):
        """The number of finished checks since the start, or of all pings."""
        if self.pinger:
            return self.pinger.answered.value
        return sum(value for name, value in self.metrics().items() if name.startswith("watchkeeper_checks_total{"))

    def prepare(self):
        """Creates the first service and a tag over the API, and the other services as copies of its row."""
        self.start()
        self.wait_until_ready()
        service = {"name": "Service 0", **self.kind(), "settings": self.settings()}
        created = self.expect(201, "POST", "/v1/services", service)
        tag = self.expect(201, "POST", "/v1/tags", TAG)["id"]
        self.expect(200, "PATCH", f"/v1/services/{created['id']}", {"tags": [tag]})
        processes.stop([self.running])
        self.running = None
        copy_service(os.path.join(self.data, "main.db"), self.chosen.services, self.chosen.tagged)
        if self.chosen.type == "heartbeat":
            self.pinger = pings.Pinger(self.port, self.chosen.services, self.chosen.interval)
            self.pinger.start()
        return tag

    def expect(self, status, method, path, body):
        found, answer = self.request(method, path, body)
        if found != status:
            raise SystemExit(f"{method} {path} answered with {found} instead of {status}: {answer}")
        return answer["data"]

    def kind(self):
        if self.chosen.type == "heartbeat":
            return {"check_type": "heartbeat"}
        self.target = subprocess.Popen(
            [self.program, "bench", "target", "--type", self.chosen.type],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        port = int(self.target.stdout.readline().split()[-1])
        return {"check_type": self.chosen.type, "target": f"127.0.1.1:{port}"}

    def settings(self):
        return {"interval_seconds": self.chosen.interval, "retries": 0}


def copy_service(path, services, tagged):
    """Copies the only service of a stopped installation, and its tag for the first `tagged` services."""
    with sqlite3.connect(path) as database:
        database.row_factory = sqlite3.Row
        for table in ("service", "service_tag", "heartbeat"):
            copy_rows(database, table, services, tagged)
        # The secret of the first service is known to nobody but the server.
        database.execute("UPDATE heartbeat SET secret_hash = ? WHERE service_id = (SELECT MIN(id) FROM service)", (pings.secret_hash(0),))
    database.close()


def copy_rows(database, table, services, tagged):
    found = database.execute(f"SELECT * FROM {table}").fetchall()
    if not found:
        return
    first = dict(found[0])
    owner = "id" if table == "service" else "service_id"
    columns = list(first)

    def rows():
        for number in range(1, tagged if table == "service_tag" else services):
            row = {**first, owner: first[owner] + number}
            if table == "service":
                row.update(public_id=new_id(), name=f"Service {number}", created_at=first["created_at"] + number // 20)
            if table == "heartbeat":
                row.update(secret_hash=pings.secret_hash(number))
            yield tuple(row[name] for name in columns)

    places = ", ".join("?" * len(columns))
    database.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", rows())


def new_id():
    return "".join(ALPHABET[byte & 63] for byte in os.urandom(21))
