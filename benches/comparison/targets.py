"""HTTP targets that note when each of them is asked, in processes of their own.

Run as a program, this file is one such process: it listens on some addresses and obeys single lines on its standard
input. `TargetGroup` starts several of them and adds up their answers. A target is a path, `/7`; it belongs to the
address `7 modulo the number of addresses`. All times are CLOCK_MONOTONIC, which is the same in all processes.

The targets decide nothing about a product: what is measured is computed in `figures` from the requests noted here.
"""

import array
import asyncio
import http.client
import json
import os
import subprocess
import sys
import threading
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nup\n"
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
ADDRESSES_PER_PROCESS = 8


class Requests:
    """Every request of the targets of one process, in the order of arrival."""

    def __init__(self):
        self.targets = array.array("I")
        self.times = array.array("d")
        self.connections = 0

    def asked_since(self, start):
        """Returns the number of different targets asked at or after `start`."""
        found = set()
        for at in range(len(self.times) - 1, -1, -1):
            if self.times[at] < start:
                break
            found.add(self.targets[at])
        return len(found)

    def forget(self):
        del self.targets[:], self.times[:]
        self.connections = 0


class TargetConnection(asyncio.Protocol):
    """One connection: answers requests without a body until the client closes it."""

    def __init__(self, requests):
        self.requests = requests
        self.buffer = b""

    def connection_made(self, transport):
        self.transport = transport
        self.requests.connections += 1

    def data_received(self, data):
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            now = time.monotonic()
            head, self.buffer = self.buffer[:end], self.buffer[end + 4:]
            path = head.split(b" ", 2)[1][1:]
            if not path.isdigit():
                self.transport.write(NOT_FOUND)
                continue
            self.requests.targets.append(int(path))
            self.requests.times.append(now)
            self.transport.write(ANSWER)
            if b"connection: close" in head.lower():
                self.transport.close()


async def serve(addresses, port):
    """Serves until the standard input ends."""
    requests, loop = Requests(), asyncio.get_running_loop()
    for address in addresses:
        await loop.create_server(lambda: TargetConnection(requests), address, port, backlog=4096)
    answer({"ready": True})
    done = loop.create_future()

    def obey():
        line = sys.stdin.readline().split()
        if not line:
            loop.remove_reader(sys.stdin)
            done.set_result(None)
        elif line[0] == "asked":
            answer({"targets": requests.asked_since(float(line[1])), "requests": len(requests.times)})
        elif line[0] == "forget":
            requests.forget()
            answer({})
        elif line[0] == "write":
            with open(line[1], "wb") as file:
                requests.targets.tofile(file)
                requests.times.tofile(file)
            answer({"requests": len(requests.times), "connections": requests.connections})

    loop.add_reader(sys.stdin, obey)
    await done


def answer(value):
    print(json.dumps(value), flush=True)


class TargetGroup:
    """Target processes, each with addresses of its own in 127.0.0.0/8."""

    def __init__(self, services, folder, processes=2):
        self.services, self.folder = services, folder
        self.addresses = [f"127.0.0.{last}" for last in range(1, processes * ADDRESSES_PER_PROCESS + 1)]
        self.port = 20000 + os.getpid() % 8000
        command = [sys.executable, os.path.abspath(__file__), str(self.port)]
        shares = [self.addresses[at::processes] for at in range(processes)]
        self.processes = [
            subprocess.Popen(command + share, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for share in shares
        ]
        for process in self.processes:
            if not process.stdout.readline():
                self.stop()
                raise SystemExit(f"The targets cannot listen on port {self.port}. Run it again: it takes another port.")

    def pids(self):
        return [process.pid for process in self.processes]

    def address(self, number):
        return f"http://{self.addresses[number % len(self.addresses)]}:{self.port}/{number}"

    def all_addresses(self, services):
        return [self.address(number) for number in range(services)]

    def _ask(self, line):
        answers = []
        for process in self.processes:
            process.stdin.write(line(process.pid) + "\n")
            process.stdin.flush()
        for process in self.processes:
            answers.append(json.loads(process.stdout.readline()))
        return answers

    def asked_since(self, start):
        """Returns the number of targets that were asked at or after `start`."""
        return sum(found["targets"] for found in self._ask(lambda _: f"asked {start!r}"))

    def forget(self):
        self._ask(lambda _: "forget")

    def requests(self):
        """Returns all requests noted, as pairs of arrays (targets, times), and the number of connections."""
        path = lambda pid: os.path.join(self.folder, f"requests-{pid}")
        answers = self._ask(lambda pid: f"write {path(pid)}")
        noted = []
        for process, found in zip(self.processes, answers):
            targets, times = array.array("I"), array.array("d")
            with open(path(process.pid), "rb") as file:
                targets.fromfile(file, found["requests"])
                times.fromfile(file, found["requests"])
            os.remove(path(process.pid))
            noted.append((targets, times))
        return noted, sum(found["connections"] for found in answers)

    def capacity(self, seconds=2.0, clients=4):
        """Returns requests/s that the targets answer to `clients` threads of Python, each request on a connection of its own."""
        counts = [0] * clients
        until = time.monotonic() + seconds

        def ask(client):
            while time.monotonic() < until:
                address = self.addresses[(client + counts[client]) % len(self.addresses)]
                connection = http.client.HTTPConnection(address, self.port, timeout=5)
                connection.request("GET", "/0")
                connection.getresponse().read()
                connection.close()
                counts[client] += 1

        threads = [threading.Thread(target=ask, args=(client,)) for client in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.forget()
        return sum(counts) / seconds

    def stop(self):
        for process in self.processes:
            process.stdin.close()
        for process in self.processes:
            process.wait(10)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[2:], int(sys.argv[1])))
