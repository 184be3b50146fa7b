"""The products compared: how each is found, configured, started, and asked how many services it calls up.

Every product gets the same addresses, interval and type of check (HTTP GET, 200 expected, one attempt of at most ten
seconds), an empty folder, and its own defaults for everything else. To add one, write a class with the methods of
`Product` and add it to `PRODUCTS`. What is measured, and how, is decided elsewhere.
"""

import concurrent.futures
import http.client
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import threading
import time
import urllib.parse

import processes

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT_SECONDS = 10
WITHOUT_PROXY = {name: "" for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")}


class NotInstalled(Exception):
    """The product is not on this machine; the text says how to install it."""


class Product:
    """One installation in a folder of its own, and the processes that run it."""

    name = stores = ""
    restart_note = None
    stores_checks = True
    shortest_interval = 1

    def __init__(self, folder, addresses, interval):
        self.folder, self.addresses, self.interval = folder, addresses, interval
        self.port = free_port()
        self.data = os.path.join(folder, "data")
        self.log = os.path.join(folder, "log")
        self.running = []

    @classmethod
    def version(cls, options):
        """Returns the version of what is installed, or raises NotInstalled."""
        raise NotImplementedError

    def prepare(self):
        """Writes the configuration before the first start."""

    def launch(self, restarted):
        """Starts the processes and appends them to `running`."""
        raise NotImplementedError

    def fill(self):
        """Makes the services after the first start, where that needs a running product."""

    def services_up(self):
        """Returns the number of services that the product calls up, or None if it cannot be asked."""

    def details(self):
        """Returns further figures of the product itself."""
        return {}

    def pids(self):
        return [process.pid for process in self.running]

    def start(self, restarted=False):
        self.running = []
        self.launch(restarted)

    def stop(self):
        processes.stop(self.running)

    def run(self, command, cwd=None, environment=None):
        self.running.append(processes.start(command, cwd or self.folder, self.log, {**WITHOUT_PROXY, **(environment or {})}))

    def get(self, path, headers=None, port=None):
        """Returns the parsed answer to a GET, or its text where it is no JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=30)
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{self.name} answered GET {path} with {answer.status}: {text[:200]}")
        return json.loads(text) if text.startswith("{") else text

    def wait_until_ready(self, path, port=None, seconds=60):
        until = time.monotonic() + seconds
        while True:
            try:
                return self.get(path, port=port)
            except (OSError, RuntimeError, http.client.HTTPException):
                if any(process.poll() is not None for process in self.running) or time.monotonic() > until:
                    raise RuntimeError(f"{self.name} did not start. The last lines of its log:\n{self.end_of_log()}") from None
                time.sleep(0.05)

    def require_running(self):
        """Raises an error if a process has ended that nobody here stopped."""
        for process in self.running:
            if process.poll() is not None:
                raise RuntimeError(f"{process.args[0]} was ended. The last lines of its log:\n{self.end_of_log()}")

    def end_of_log(self):
        with open(self.log, errors="replace") as file:
            return "".join(file.readlines()[-10:])


class Watchkeeper(Product):
    """`watchkeeper serve` with its embedded databases; services are made over its API."""

    name = "Watchkeeper"
    stores = "one row a check: status, times of the phases, code; 365 days"
    writers = 4
    program = None

    @classmethod
    def version(cls, options):
        cls.program = options.watchkeeper and shutil.which(options.watchkeeper)
        if not cls.program:
            raise NotInstalled("build it with `cargo build --release` and pass --watchkeeper target/release/watchkeeper")
        return first_line([cls.program, "--version"]).split()[-1]

    def launch(self, restarted):
        self.run([
            os.path.abspath(self.program), "serve", "--listen", f"127.0.0.1:{self.port}", "--data-dir", self.data,
            "--rate-limit-per-minute", "1000000", "--probe-reference-targets", "none",
        ])
        self.wait_until_ready("/readyz")

    def headers(self):
        with open(os.path.join(self.data, "token")) as file:
            return {"Authorization": f"Bearer {file.read().strip()}", "Content-Type": "application/json"}

    def fill(self):
        headers, local = self.headers(), threading.local()

        def create(number):
            if not hasattr(local, "connection"):
                local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            settings = {"interval_seconds": self.interval, "timeout_seconds": TIMEOUT_SECONDS, "retries": 0}
            body = {"name": f"s{number}", "check_type": "http", "target": self.addresses[number], "settings": settings}
            local.connection.request("POST", "/v1/services", json.dumps(body), headers)
            answer = local.connection.getresponse()
            text = answer.read().decode()
            if answer.status != 201:
                raise RuntimeError(f"Watchkeeper refused service {number} with {answer.status}: {text[:300]}")

        with concurrent.futures.ThreadPoolExecutor(self.writers) as pool:
            for _ in pool.map(create, range(len(self.addresses))):
                pass

    def services_up(self):
        return self.get("/v1/services?status=up&per_page=1", self.headers())["meta"]["total"]


class Prometheus(Product):
    """Prometheus that scrapes `/probe` of blackbox_exporter for every address, and stores what it returns."""

    name = "Prometheus + blackbox_exporter"
    stores = "22 samples a check: success, times of the phases, code and more; 15 days"
    programs = ("prometheus", "prometheus-blackbox-exporter")

    @classmethod
    def version(cls, options):
        missing = [name for name in cls.programs if not shutil.which(name)]
        if missing:
            raise NotInstalled("apt-get install --no-install-recommends " + " ".join(missing))
        found = [re.search(r"version (\S+)", first_line([name, "--version"]))[1] for name in cls.programs]
        return f"{found[0].rstrip(',')} + {found[1].rstrip(',')}"

    def prepare(self):
        self.exporter_port = free_port()
        module = {"prober": "http", "timeout": f"{TIMEOUT_SECONDS}s"}
        module["http"] = {"method": "GET", "valid_status_codes": [200], "preferred_ip_protocol": "ip4"}
        relabel = [
            {"source_labels": ["__address__"], "target_label": "__param_target"},
            {"source_labels": ["__param_target"], "target_label": "instance"},
            {"target_label": "__address__", "replacement": f"127.0.0.1:{self.exporter_port}"},
        ]
        job = {
            "job_name": "services",
            "metrics_path": "/probe",
            "params": {"module": ["http_get"]},
            "static_configs": [{"targets": self.addresses}],
            "relabel_configs": relabel,
        }
        times = {"scrape_interval": f"{self.interval}s", "scrape_timeout": f"{min(TIMEOUT_SECONDS, self.interval)}s"}
        self.write("exporter.yml", {"modules": {"http_get": module}})
        self.write("prometheus.yml", {"global": times, "scrape_configs": [job]})

    def write(self, name, value):
        """Writes a file of YAML; every JSON document is one."""
        with open(os.path.join(self.folder, name), "w") as file:
            json.dump(value, file)

    def launch(self, restarted):
        self.run([
            self.programs[1], "--config.file=exporter.yml", f"--web.listen-address=127.0.0.1:{self.exporter_port}",
        ])
        self.wait_until_ready("/-/healthy", self.exporter_port)
        self.run([
            self.programs[0], "--config.file=prometheus.yml", f"--web.listen-address=127.0.0.1:{self.port}",
            f"--storage.tsdb.path={self.data}",
        ])
        self.wait_until_ready("/-/ready")

    def services_up(self):
        query = urllib.parse.quote("count(probe_success == 1)")
        found = self.get(f"/api/v1/query?query={query}")["data"]["result"]
        return int(found[0]["value"][1]) if found else 0

    def details(self):
        samples = re.search(r"^prometheus_tsdb_head_samples_appended_total\S* (\S+)$", self.get("/metrics"), re.M)
        return {"samples_stored": float(samples[1])} if samples else {}


class UptimeKuma(Product):
    """The server of Uptime Kuma with SQLite; its monitors are written into its database before it starts."""

    name = "Uptime Kuma"
    stores = "one row a check: status, message, response time; 180 days"
    shortest_interval = 20
    restart_note = "it waits 0.3 to 1 second before it starts each next monitor"
    package = None

    @classmethod
    def version(cls, options):
        cls.package = os.path.abspath(options.uptime_kuma)
        if not shutil.which("node"):
            raise NotInstalled("install nodejs 18 or newer (apt-get install nodejs npm)")
        if not os.path.exists(os.path.join(cls.package, "server", "server.js")):
            raise NotInstalled("npm install uptime-kuma, and pass --uptime-kuma node_modules/uptime-kuma")
        if not os.path.exists(os.path.join(cls.package, "db", "old_migrations", "patch-add-invert-keyword.sql")):
            raise NotInstalled("copy db/patch-*.sql of its package to db/old_migrations, where its server looks for them")
        check = subprocess.run(["node", "-e", "require('@louislam/sqlite3')"], cwd=cls.package, capture_output=True)
        if check.returncode:
            raise NotInstalled("it has no compiled SQLite: docs/benchmarks.md says how to compile it")
        with open(os.path.join(cls.package, "package.json")) as file:
            return json.load(file)["version"]

    def prepare(self):
        """Lets the server make its database, stops it, and writes the monitors."""
        os.makedirs(self.data)
        database = os.path.join(self.data, "kuma.db")
        shutil.copyfile(os.path.join(self.package, "db", "kuma.db"), database)
        with sqlite3.connect(database) as rows:
            rows.execute("INSERT INTO setting (key, value, type) VALUES ('checkUpdate', 'false', 'general')")
        rows.close()
        self.start()
        self.stop()
        monitors = [(f"s{at}", self.interval, address, TIMEOUT_SECONDS) for at, address in enumerate(self.addresses)]
        with sqlite3.connect(database) as rows:
            rows.execute("INSERT INTO user (id, username, password) VALUES (1, 'comparison', '-')")
            rows.executemany(
                "INSERT INTO monitor (name, interval, url, timeout, type, user_id, method, accepted_statuscodes_json)"
                " VALUES (?, ?, ?, ?, 'http', 1, 'GET', '[\"200\"]')",
                monitors,
            )
        rows.close()

    def launch(self, restarted):
        """Starts the server. All monitors begin within one interval, except in the start that measures the restart."""
        command, environment = ["node"], {"UPTIME_KUMA_DB_TYPE": "sqlite", "NODE_ENV": "production"}
        if not restarted:
            command += ["--require", os.path.join(HERE, "kuma_start.js")]
            environment["COMPARISON_PAUSE_MS"] = str(self.interval * 1000 / len(self.addresses))
            environment["COMPARISON_PACKAGE"] = self.package
        command += ["server/server.js", f"--data-dir={self.data}/", "--host=127.0.0.1", f"--port={self.port}"]
        self.run(command, cwd=self.package, environment=environment)
        self.wait_until_ready("/api/entry-page")

    def services_up(self):
        database = sqlite3.connect(f"file:{self.data}/kuma.db?mode=ro", uri=True)
        newest = "SELECT max(id) FROM heartbeat GROUP BY monitor_id"
        found = database.execute(f"SELECT count(*) FROM heartbeat WHERE status = 1 AND id IN ({newest})").fetchone()[0]
        database.close()
        return found


class Monit(Product):
    """Monit, which checks one service after the other in each cycle."""

    name = "Monit"
    stores = "no checks, only the present state"
    stores_checks = False
    program = "monit"

    @classmethod
    def version(cls, options):
        if not shutil.which(cls.program):
            raise NotInstalled("apt-get install --no-install-recommends monit")
        return first_line([cls.program, "-V"]).split()[-1]

    def prepare(self):
        os.makedirs(self.data)
        lines = [f"set {name}file {self.data}/{name}" for name in ("id", "state", "pid")]
        lines += [f"set daemon {self.interval}", f"set httpd port {self.port} address 127.0.0.1 allow 127.0.0.1"]
        for number, address in enumerate(self.addresses):
            parts = urllib.parse.urlsplit(address)
            lines.append(
                f"check host s{number} with address {parts.hostname}\n  if failed port {parts.port} protocol http"
                f' request "{parts.path}" status = 200 with timeout {TIMEOUT_SECONDS} seconds then alert'
            )
        path = os.path.join(self.folder, "monitrc")
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        os.chmod(path, 0o600)

    def launch(self, restarted):
        self.run([self.program, "-I", "-c", os.path.join(self.folder, "monitrc")])

    def services_up(self):
        text = self.get("/_status?format=xml")
        return len(re.findall(r'<service type="4">.*?<status>0</status>', text, re.S))


PRODUCTS = {"watchkeeper": Watchkeeper, "prometheus": Prometheus, "uptime-kuma": UptimeKuma, "monit": Monit}


def first_line(command):
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return (result.stdout or result.stderr).splitlines()[0]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
