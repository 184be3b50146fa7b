"""A mail server (aiosmtpd) for tests: prints its port, then each mail that it takes as one line of JSON.

Arguments: how it speaks (`starttls`: mails after STARTTLS and AUTH only; `tls`: encrypted from the first byte, with AUTH; `plain`:
in clear, for everybody), and for the first two the files of its certificate chain and of its key.
"""

import asyncio
import email
import email.policy
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

SEEN = set()


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("unknown@"):
            return "550 5.1.1 No such user"
        if address.startswith("later@"):
            return "451 4.3.0 Try again later"
        if address.startswith("grey@") and address not in SEEN:
            SEEN.add(address)
            return "451 4.7.1 Greylisted, try again"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        text, html = (mail.get_body((kind,)) for kind in ("plain", "html"))
        taken = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "is_encrypted": server.transport.get_extra_info("sslcontext") is not None,
            "is_known": session.authenticated,
            "headers": dict(mail.items()),
            "text": text.get_content(),
            "html": html.get_content(),
            "content": envelope.content.decode(),
        }
        print(json.dumps(taken), flush=True)
        return "250 Taken"


def authenticate(server, session, envelope, mechanism, data):
    return AuthResult(success=data.login == b"status" and data.password == b"parole", handled=False)


async def main(mode, *files):
    tls = None
    if files:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(*files)
    manner = {
        "starttls": {"tls_context": tls, "require_starttls": True, "auth_required": True},
        # This SMTP knows nothing of the encryption below it.
        "tls": {"auth_required": True, "auth_require_tls": False},
        "plain": {},
    }[mode]

    def protocol():
        return SMTP(Handler(), hostname="localhost", authenticator=authenticate, **manner)

    below = tls if mode == "tls" else None
    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0, ssl=below)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main(*sys.argv[1:]))
