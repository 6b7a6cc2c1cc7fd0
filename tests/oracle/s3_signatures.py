#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Stands before an S3 server that does not check signatures of version 4, and checks them as Amazon's specification
says ("Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk"):

    s3_signatures.py BACK-PORT SECRET     prints its own port; what is signed wrongly is answered 403

A request without Authorization, or whose body has another hash than it tells, is refused as well.
"""
import hashlib
import hmac
import http.client
import http.server
import re
import sys
import urllib.parse

BACK, SECRET = int(sys.argv[1]), sys.argv[2]


def digest(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def canonical_query(query):
    pairs = urllib.parse.parse_qsl(query, keep_blank_values=True)
    quote = lambda text: urllib.parse.quote(text, safe="-_.~")
    return "&".join(sorted(f"{quote(name)}={quote(value)}" for name, value in pairs))


def why_refused(method, target, headers, body):
    given = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?"
                         r"SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})", headers.get("Authorization", ""))
    if not given:
        return "not signed"
    _, date, region, names, signature = given.groups()
    told = headers.get("x-amz-content-sha256", "")
    if told != hashlib.sha256(body).hexdigest():
        return "the body has another hash"
    signed = names.split(";")
    if signed != sorted(signed) or "host" not in signed or \
            any(name.lower().startswith("x-amz-") and name.lower() not in signed for name in headers):
        return "a header that must be signed is not"
    if any(name not in headers for name in signed):
        return "a header that is signed is not there"
    split = urllib.parse.urlsplit(target)
    path = urllib.parse.quote(urllib.parse.unquote(split.path), safe="/-_.~")
    lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in signed)
    request = "\n".join([method, path, canonical_query(split.query), lines, names, told])
    scope = f"{date}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashlib.sha256(request.encode()).hexdigest()])
    key = ("AWS4" + SECRET).encode()
    for part in (date, region, "s3", "aws4_request"):
        key = digest(key, part)
    return None if hmac.compare_digest(digest(key, text).hex(), signature) else "another signature"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        why = why_refused(self.command, self.path, self.headers, body)
        if why:
            print("refused:", self.command, self.path, why, file=sys.stderr, flush=True)
            self.reply(403, {}, why.encode())
            return
        back = http.client.HTTPConnection("127.0.0.1", BACK)
        back.request(self.command, self.path, body, {name: value for name, value in self.headers.items()})
        answer = back.getresponse()
        self.reply(answer.status, dict(answer.getheaders()), answer.read())
        back.close()

    def reply(self, status, headers, body):
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_PUT = do_HEAD = pass_on

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
