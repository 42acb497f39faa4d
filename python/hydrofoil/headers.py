"""Names of headers that every request is asked for: as `istr` a lookup takes half the time of one by a plain text."""

from __future__ import annotations

from multidict import istr

ACCEPT = istr("Accept")
ACCEPT_ENCODING = istr("Accept-Encoding")
AUDIT_ID = istr("Audit-ID")
AUTHORIZATION = istr("Authorization")
CONNECTION = istr("Connection")
CONTENT_LENGTH = istr("Content-Length")
CONTENT_TYPE = istr("Content-Type")
EXPECT = istr("Expect")
FORWARDED_FOR = istr("X-Forwarded-For")
HOST = istr("Host")
ORIGIN = istr("Origin")
REAL_IP = istr("X-Real-Ip")
SITE = istr("Sec-Fetch-Site")
TRANSFER_ENCODING = istr("Transfer-Encoding")
UPGRADE = istr("Upgrade")
USER_AGENT = istr("User-Agent")
