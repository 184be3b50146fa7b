"""A mail server (aiosmtpd) for tests: prints its port, then each mail that it takes as one line of JSON.

Arguments: the file of its certificate chain, and the file of its key. It takes mails after STARTTLS and AUTH only.
"""

import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("unknown@"):
            return "550 5.1.1 No such user"
        if address.startswith("later@"):
            return "451 4.3.0 Try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        mail = {
            "to": envelope.rcpt_tos,
            "is_encrypted": session.ssl is not None,
            "is_known": session.authenticated,
            "content": envelope.content.decode(),
        }
        print(json.dumps(mail), flush=True)
        return "250 Taken"


def authenticate(server, session, envelope, mechanism, data):
    return AuthResult(success=data.login == b"status" and data.password == b"parole", handled=False)


async def main():
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(sys.argv[1], sys.argv[2])

    def protocol():
        return SMTP(
            Handler(), hostname="localhost", tls_context=tls, require_starttls=True, auth_required=True,
            authenticator=authenticate,
        )

    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
