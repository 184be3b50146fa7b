"""Clients of the API: each request is timed, and each answer is compared with what the specification demands."""

import http.client
import itertools
import json
import random
import threading
import time

WRITERS = 2
READERS = 2
PAUSE_SECONDS = 0.02


class WrongAnswer(Exception):
    """An answer that the specification does not permit."""


class Client:
    def __init__(self, port, token, tag, chosen):
        self.port, self.chosen, self.tag = port, chosen, tag
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.local = threading.local()
        self.lock = threading.Lock()
        self.milliseconds = {}
        self.wrong = []
        # Names of acknowledged services by id; None for a deleted service.
        self.acknowledged = {}
        self.known = []
        self.numbers = itertools.count()

    def ask(self, name, method, path, body=None, status=200):
        """Sends one request; returns the parsed answer."""
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        began = time.monotonic()
        try:
            self.local.connection.request(method, path, body and json.dumps(body), self.headers)
            answer = self.local.connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException):
            self.local.connection.close()
            raise
        with self.lock:
            self.milliseconds.setdefault(name, []).append(1000 * (time.monotonic() - began))
        if answer.status != status:
            raise WrongAnswer(f"{name}: {method} {path} answered with {answer.status} instead of {status}: {text[:300]}")
        return json.loads(text) if text else None

    def demand(self, is_right, text):
        if not is_right:
            raise WrongAnswer(text)

    def work(self, until):
        """Reads and writes until this time; returns the times of the requests in milliseconds, by kind."""
        self.known = [service["id"] for service in self.page("first page after a start", "")["data"]]
        try:
            self.search("search after a start", "Service 1")
        except (WrongAnswer, OSError, http.client.HTTPException) as error:
            self.wrong.append(f"search after a start: {error!r}")
        tasks = [self.write] * WRITERS + [self.read] * READERS
        threads = [threading.Thread(target=self.repeat, args=(task, until)) for task in tasks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.milliseconds

    def repeat(self, task, until):
        while time.monotonic() < until:
            try:
                task()
            except (WrongAnswer, OSError, http.client.HTTPException) as error:
                with self.lock:
                    self.wrong.append(str(error) or repr(error))
            time.sleep(PAUSE_SECONDS)

    def create(self):
        name = f"Created {next(self.numbers)} {random.getrandbits(40):x}"
        settings = {"interval_seconds": self.chosen.interval, "retries": 0}
        kind = {"check_type": "tcp", "target": "127.0.1.2:9"}
        service = self.ask("create", "POST", "/v1/services", {"name": name, **kind, "settings": settings}, 201)["data"]
        self.acknowledged[service["id"]] = name
        return service

    def write(self):
        """The life of a service: created, read, found, edited, tagged, found by its tag, deleted, and gone."""
        service = self.create()
        name, path = service["name"], f"/v1/services/{service['id']}"
        self.demand(self.ask("read", "GET", path)["data"]["name"] == name, f"{path} has another name than created")
        self.demand(self.ids("search", f"q={quoted(name)}") == [service["id"]], f"{name} is not found after its creation")
        # Not compared if there is no answer: the change may have been made.
        del self.acknowledged[service["id"]]
        edited = self.ask("edit", "PATCH", path, {"name": f"{name}, edited", "tags": [self.tag]})["data"]
        self.acknowledged[service["id"]] = edited["name"]
        read = self.ask("read", "GET", path)["data"]
        self.demand(stored(read) == stored(edited), f"{path} differs from the answer to its update")
        found = self.ids("search", f"q={quoted(edited['name'])}&tag=fleet:tagged")
        self.demand(found == [service["id"]], f"{edited['name']} is not found with its new name and tag")
        if random.random() < 0.5:
            del self.acknowledged[service["id"]]
            self.ask("delete", "DELETE", path)
            self.acknowledged[service["id"]] = None
            self.ask("read of a deleted one", "GET", path, status=404)
            self.demand(self.ids("search", f"q={quoted(name)}") == [], f"{name} is found after its deletion")

    def read(self):
        """The lists that people open, and single services."""
        services, tagged = self.chosen.services, self.chosen.tagged
        last = (services + 14) // 15
        for name, query, least in [
            ("list, first page", "", services),
            ("list, a middle page", f"page={random.randrange(1, last)}", services),
            ("list by tag", "tag=fleet:tagged", tagged),
            ("list by status", "status=down", 0),
            ("list by type", f"check_type={self.chosen.type}", services),
            ("list by text", f"q=Service+{random.randrange(services)}", 1),
        ]:
            page = self.page(name, query)
            self.demand(page["meta"]["total"] >= least, f"{name}: only {page['meta']['total']} instead of {least} services")
            self.demand(len(page["data"]) == min(15, page["meta"]["total"]) or "page=" in query, f"{name}: incomplete page")
        self.ask("read", "GET", f"/v1/services/{random.choice(self.known)}")
        self.ask("newest checks", "GET", f"/v1/services/{random.choice(self.known)}/checks")
        self.ask("uptime of 30 days", "GET", f"/v1/services/{random.choice(self.known)}/uptime")

    def page(self, name, query):
        return self.ask(name, "GET", f"/v1/services?{query}")

    def search(self, name, text):
        return self.page(name, f"q={quoted(text)}")

    def ids(self, name, query):
        return [service["id"] for service in self.page(name, query)["data"]]

    def write_until_it_fails(self, kill):
        """Creates services until `kill`, called after a second, has ended the server."""
        timer = threading.Timer(1, kill)
        timer.start()
        try:
            while True:
                self.create()
        except (WrongAnswer, OSError, http.client.HTTPException):
            timer.join()

    def compare_with_acknowledged(self):
        """Returns what was acknowledged and is not as it was."""
        lost = []
        for id, name in self.acknowledged.items():
            try:
                found = self.ask("read after the restart", "GET", f"/v1/services/{id}", status=404 if name is None else 200)
            except WrongAnswer as error:
                lost.append(str(error))
                continue
            if name is not None and found["data"]["name"] != name:
                lost.append(f"{id} is named {found['data']['name']} instead of {name}")
        return lost


def stored(service):
    """Returns what a service has by its requests, without what its checks have found."""
    measured = ("status", "effective_status", "uptime_30d", "avg_response_ms", "last_check_at", "favicon_url")
    return {name: value for name, value in service.items() if name not in measured}


def quoted(text):
    return text.replace(" ", "+").replace(",", "%2C")
