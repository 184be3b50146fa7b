"""A process that pings every heartbeat service once an interval, evenly, over a few connections.

Requests are sent one behind another without waiting for the answers (pipelining), so that one process is enough for tens of
thousands of pings a second. An answer other than 200 is counted as failed.
"""

import asyncio
import hashlib
import multiprocessing
import time

CONNECTIONS = 8
# Seconds between two batches of a connection.
PACE = 0.05
SECRET_BYTES = 32


def secret(number):
    """Returns the secret of the service with this number; unlike real ones it is not random."""
    return hashlib.sha256(f"fleet {number}".encode()).hexdigest()[:43]


def secret_hash(number):
    return hashlib.sha256(secret(number).encode()).digest()


class Pinger:
    """Pings the services of an installation from their creation until it is stopped."""

    def __init__(self, port, services, interval):
        self.answered, self.failed = multiprocessing.Value("q", 0), multiprocessing.Value("q", 0)
        arguments = (port, services, interval, self.answered, self.failed)
        self.process = multiprocessing.Process(target=ping_all, args=arguments, daemon=True)

    def start(self):
        self.process.start()

    def stop(self):
        self.process.terminate()
        self.process.join()


def ping_all(port, services, interval, answered, failed):
    parts = [range(first, services, CONNECTIONS) for first in range(CONNECTIONS)]

    async def run():
        await asyncio.gather(*(keep_pinging(port, part, interval, answered, failed) for part in parts))

    asyncio.run(run())


async def keep_pinging(port, numbers, interval, answered, failed):
    """Pings these services in turn; connects again when the server is gone."""
    position = 0
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.2)
            continue
        counting = asyncio.create_task(count(reader, answered, failed))
        begin, sent = time.monotonic(), 0
        try:
            while not counting.done():
                due = int((time.monotonic() - begin) * len(numbers) / interval)
                batch = [numbers[(position + place) % len(numbers)] for place in range(due - sent)]
                writer.write(b"".join(request(number) for number in batch))
                await writer.drain()
                position, sent = position + len(batch), due
                await asyncio.sleep(PACE)
        except OSError:
            pass
        counting.cancel()
        writer.close()


def request(number):
    return b"GET /ping/%s HTTP/1.1\r\nHost: a\r\n\r\n" % secret(number).encode()


async def count(reader, answered, failed):
    """Counts answers until the connection ends."""
    good, bad = MarkCounter(b"HTTP/1.1 200"), [MarkCounter(b"HTTP/1.1 4"), MarkCounter(b"HTTP/1.1 5")]
    while found := await reader.read(1 << 16):
        with answered:
            answered.value += good.count(found)
        with failed:
            failed.value += sum(counter.count(found) for counter in bad)


class MarkCounter:
    """Counts a mark in a text that comes in pieces, also where a piece ends within it."""

    def __init__(self, mark):
        self.mark, self.rest = mark, b""

    def count(self, piece):
        text = self.rest + piece
        self.rest = text[-(len(self.mark) - 1):]
        return text.count(self.mark)
