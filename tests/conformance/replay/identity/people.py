"""The users of the scenarios: their certificates, tokens and certificate requests."""

from __future__ import annotations

Validity = int | tuple[str, str]
"""Days from now, or the first and the last moment."""

# name: (CA, subject, extended key usage, validity, whether the intermediate CA is sent too)
CERTIFICATES: dict[str, tuple[str, str, str, Validity, bool]] = {
    "alice": ("client-ca", "/O=blue/O=red/OU=ignored/CN=alice", "clientAuth", 30, False),
    "arno": ("client-ca", "/O=gold/O=navy/OU=ignored/CN=arno", "clientAuth", 30, False),
    "ulla": ("client-ca", "/O=gold/CN=ulla/userUid=uid-of-ulla", "clientAuth", 30, False),
    "linked": ("inter-ca", "/O=gold/CN=linked", "clientAuth", 30, True),
    "kubelet2": ("client-ca", "/O=system:nodes/CN=system:node:k7", "clientAuth", 30, False),
    "root": ("client-ca", "/O=system:masters/CN=root", "clientAuth", 30, False),
    "uma": ("client-ca", "/O=blue/CN=uma/userUid=uid-of-uma", "clientAuth", 30, False),
    "nameless": ("client-ca", "/O=system:masters", "clientAuth", 30, False),
    "groupless": ("client-ca", "/CN=groupless", "clientAuth", 30, False),
    "anykey": ("client-ca", "/O=blue/CN=anykey", "", 30, False),
    "server": ("client-ca", "/O=blue/CN=server", "serverAuth", 30, False),
    "expired": ("client-ca", "/O=blue/CN=alice", "clientAuth", ("20200101000000Z", "20210101000000Z"), False),
    "future": ("client-ca", "/O=blue/CN=alice", "clientAuth", ("20480101000000Z", "20490101000000Z"), False),
    "chained": ("inter-ca", "/O=blue/CN=chained", "clientAuth", 30, True),
    "unchained": ("inter-ca", "/O=blue/CN=chained", "clientAuth", 30, False),
    "foreign": ("other-ca", "/O=system:masters/CN=alice", "clientAuth", 30, False),
    "kubelet": ("client-ca", "/O=system:nodes/CN=system:node:n1", "clientAuth", 30, False),
    "nobody": ("client-ca", "/O=system:unauthenticated/CN=system:anonymous", "clientAuth", 30, False),
    "robot": ("client-ca", "/O=system:serviceaccounts/CN=system:serviceaccount:default:robot", "clientAuth", 30, False),
    "umlaut": ("client-ca", "/O=Gärtner/CN=Zoë", "clientAuth", 30, False),
    "front": ("front-ca", "/CN=front", "clientAuth", 30, False),
    "stranger": ("front-ca", "/CN=stranger", "clientAuth", 30, False),
}

TOKENS = """\
admin-token,admin,admin-uid,system:masters
tess-token,tess,tess-uid,"blue,green"
solo-token,solo,solo-uid,single
bare-token,bare,bare-uid
nouid-token,nouid,,blue
ivan-token,ivan,ivan-uid,impersonators
nina-token,nina,nina-uid
omar-token,omar,omar-uid,"impersonators,blue"
pia-token,pia,pia-uid
spaced-token, spaced ,spaced-uid," blue , green "
chief-token,chief,chief-uid,system:masters
thor-token,thor,thor-uid,"gold,navy"
sam-token,sam,sam-uid,lonely
ines-token,ines,ines-uid,impersonators
noor-token,noor,noor-uid
otto-token,otto,otto-uid,"impersonators,gold"
paul-token,paul,paul-uid
node-token,system:node:n1,node-uid,system:nodes
masters-too-token,max,max-uid,"blue,system:masters"
"""
"""The file of static tokens; `admin-token` is that of a user in system:masters."""

CSRS = {
    "kubelet": "/O=system:nodes/CN=system:node:n1",
    "kubelet2": "/O=system:nodes/CN=system:node:k7",
    "masters": "/O=system:masters/CN=boss",
    "person": "/O=blue/CN=person",
}
