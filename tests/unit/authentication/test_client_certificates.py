"""Users named by certificates (apiserver `request/x509/x509_test.go`)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from cryptography.x509.oid import ExtendedKeyUsageOID

from hydrofoil.authentication.client_certificates import CREDENTIAL_ID, Authorities, ClientCertificates
from hydrofoil.authentication.login import Rejected
from hydrofoil.files import Files
from tests.unit.authentication.clocks import Fixed
from tests.unit.authentication.requests import DAY, NOW, Authority, request

OURS, OTHERS = Authority(), Authority("other")


@pytest.fixture
def authorities(tmp_path: Path) -> Authorities:
    path = tmp_path / "ca.crt"
    path.write_bytes(OURS.pem)
    return Authorities(str(path), Files(Fixed()))


async def test_common_name_and_organizations(authorities: Authorities) -> None:
    login = ClientCertificates(authorities, Fixed()).authenticate(request(certificates=(OURS.issue("ann", "a", "b"),)))
    assert login is not None
    assert (login.user.name, login.user.groups) == ("ann", ("a", "b"))
    assert login.user.extra[CREDENTIAL_ID][0].startswith("X509SHA256=")


async def test_no_certificate_and_no_name(authorities: Authorities) -> None:
    certificates = ClientCertificates(authorities, Fixed())
    assert certificates.authenticate(request()) is None
    assert certificates.authenticate(request(certificates=(OURS.issue("", "system:masters"),))) is None


@pytest.mark.parametrize(
    "made",
    [
        OURS.issue("ann", start=NOW - 2 * DAY, end=NOW - DAY),
        OURS.issue("ann", start=NOW + DAY, end=NOW + 2 * DAY),
        OTHERS.issue("ann", "system:masters"),
        OURS.issue("ann", usage=ExtendedKeyUsageOID.SERVER_AUTH),
        b"no certificate",
        OURS.issue("ann")[:-1],
    ],
    ids=["expired", "not-yet-valid", "of-another-authority", "for-servers", "garbage", "cut"],
)
async def test_bad_certificates_are_refused(made: bytes, authorities: Authorities) -> None:
    certificates = ClientCertificates(authorities, Fixed())
    assert certificates.authenticate(request(certificates=(OURS.issue("ann"),))) is not None
    for _ in range(2):  # a refusal is not kept as anything else
        with pytest.raises(Rejected):
            certificates.authenticate(request(certificates=(made,)))


async def test_new_authorities_count_at_once_and_bad_ones_change_nothing(authorities: Authorities) -> None:
    certificates = ClientCertificates(authorities, Fixed())
    foreign = request(certificates=(OTHERS.issue("ann"),))
    ours = request(certificates=(OURS.issue("ann"),))
    path = Path(authorities._path)
    for content in (b"", b"no certificate", None):
        if content is None:
            await asyncio.to_thread(path.unlink)
        else:
            await asyncio.to_thread(path.write_bytes, content)
        await authorities._read()
        assert certificates.authenticate(ours) is not None
    await asyncio.to_thread(path.write_bytes, OTHERS.pem)
    await authorities._read()
    assert certificates.authenticate(foreign) is not None
    with pytest.raises(Rejected):
        certificates.authenticate(ours)


async def test_how_long_certificates_are_valid_is_counted(authorities: Authorities) -> None:
    """Each request counts, a refused certificate as well, with negative seconds after its end."""
    certificates = ClientCertificates(authorities, Fixed())
    good, ended = OURS.issue("ann"), OURS.issue("ann", start=NOW - 2 * DAY, end=NOW - DAY)
    for _ in range(3):
        certificates.authenticate(request(certificates=(good,)))
    for bad in (ended, b"no certificate"):
        with pytest.raises(Rejected):
            certificates.authenticate(request(certificates=(bad,)))
    day = DAY.total_seconds()
    for _ in range(2):
        lives = certificates.lives()
        assert lives.sum == 3 * day - day
        counts = dict(lives.cumulative())
        assert (counts["0"], counts["43200"], counts["86400"], counts["+Inf"]) == (1, 1, 4, 4)
        certificates._forget()
