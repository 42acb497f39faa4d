"""The Rust engine."""

from collections.abc import Sequence
from typing import Any, Generic, Literal, Protocol, Self, TypeVar, final, overload

from typing_extensions import disjoint_base

__all__ = [
    "ENVELOPE_TAIL",
    "LARGE",
    "ApplyConflictError",
    "AuditIds",
    "AuditLines",
    "AuditRecord",
    "Catalog",
    "CertificateError",
    "Change",
    "Checkpoint",
    "ClientCa",
    "ClientError",
    "ClientRun",
    "ClientTarget",
    "Clock",
    "ConflictError",
    "ConversionError",
    "DataError",
    "Declaration",
    "DecodeError",
    "Document",
    "Draft",
    "Durable",
    "Encryption",
    "Etcd",
    "EvaluationError",
    "ExistsError",
    "ExpiredError",
    "Expression",
    "Expressions",
    "Flow",
    "FlowCounts",
    "FutureError",
    "Histogram",
    "KnownHeads",
    "Lifecycle",
    "LinkOwner",
    "LinkRequest",
    "LinkWorker",
    "ListCursor",
    "Local",
    "Logins",
    "LoopTurns",
    "Memo",
    "Memos",
    "MissingError",
    "ObjectMeta",
    "PanicException",
    "PrepareResult",
    "Queues",
    "ReadResult",
    "RefusedError",
    "Region",
    "Reindexed",
    "RequestClock",
    "ResourceType",
    "Selector",
    "Shard",
    "Step",
    "Stored",
    "Ticket",
    "TlsConfig",
    "TlsConnection",
    "TlsError",
    "TypeMetaError",
    "UpstreamFeed",
    "View",
    "Watcher",
    "Work",
    "audit_record",
    "audit_sources",
    "build_profile",
    "cbor_to_json",
    "certificate_end",
    "data_backup",
    "data_check",
    "data_compact",
    "data_export",
    "data_restore",
    "decode_continue",
    "duration",
    "encode_continue",
    "field_requirements",
    "is_label_requirement",
    "json_patch",
    "json_path",
    "json_to_cbor",
    "json_to_yaml",
    "label_requirements",
    "limit_fill",
    "limit_refusal",
    "merge_metrics",
    "new_authority",
    "new_certificate",
    "node_shortage",
    "openapi_protobuf",
    "pretty",
    "quota_charge",
    "quota_usage",
    "rule_durations",
    "storage_grows",
    "token_digest",
    "usable_certificate",
    "version",
    "watch_event",
    "watchers_wait",
    "yaml_fault_line",
    "yaml_to_json",
]

_T = TypeVar("_T")

ENVELOPE_TAIL: bytes
LARGE: int
build_profile: str
version: str

class DecodeError(Exception):
    """A body, patch or configuration is refused; its text is `message`."""

    reason: str
    """`syntax`, `type` or `patched` (of its result); `failed`, `too many` or `internal` of a patch; `bad request`."""
    message: str
    outcome: str | None
    """The whole result of a patch, as messages show it, if that is at fault."""

class TypeMetaError(DecodeError):
    """The result of a patch has another type, with the `reason` `type meta`."""

    outcome: str
    api_version: str
    kind: str

class ApplyConflictError(Exception):
    """Others own fields of a configuration."""

    message: str
    causes: list[tuple[str, str]]
    """Message and field of each."""

class ExistsError(Exception): ...
class MissingError(Exception): ...
class PanicException(BaseException): ...

class ConflictError(Exception):
    """The object is at another revision."""

    current: int

class ConversionError(Exception):
    """An object is not known in a version."""

    reason: str
    """`webhook`: one converts it first; `invalid`: it cannot be converted."""
    message: str

class ExpiredError(Exception):
    """The history no longer has the revision `asked`, only those from `oldest`."""

    asked: int
    oldest: int

class EvaluationError(Exception): ...

class RefusedError(Exception):
    """A log refuses a write, or its outcome is unknown."""

    reason: str
    """Of a disk: `full`, `halted`, `unencrypted`, `lost` (undecided); of etcd: as `storage/etcd.py` reads it."""
    message: str

class DataError(Exception): ...

class TlsError(Exception):
    """A connection broke a rule of TLS; its text is the rule."""

    alert: bytes
    """The records for the client, or none."""

class CertificateError(Exception): ...

class FutureError(Exception):
    """The revision `asked` has not been reached."""

    asked: int
    current: int

class ClientError(Exception): ...

@final
class Expression:
    """A compiled expression of one variable: `claims`, `user` or `request`."""

    def __new__(cls, text: str, variable: str) -> Expression:
        """Compile an expression. Raise ValueError with the reason of its rejection."""

    @property
    def result(self) -> str:
        """Return the type of the result, as `bool` or `list(string)`."""

    @property
    def fields(self) -> set[str]:
        """Return the fields of the variable that it names."""

    def evaluate(self, on: bytes, patience: float | None = None) -> bytes | None:
        """Return the result, as JSON, on a value of the variable; None if it takes more seconds than `patience`.

        Raise EvaluationError."""

@final
class Document:
    """A value that expressions read."""

    def __new__(cls, data: bytes) -> Document:
        """Parse JSON. Raise DecodeError."""

@final
class Expressions:
    """Compiled expressions about an admission request, run one after the other."""

    def __new__(
        cls,
        texts: list[str],
        variables: list[tuple[str, str]] | None = None,
        *,
        params: bool = False,
        authorizer: bool = False,
        patches: bool = False,
    ) -> Expressions:
        """Compile them; one that does not compile is an error when it is run."""

    @property
    def errors(self) -> list[str]:
        """Return the errors of those that do not compile."""

    def evaluate(
        self,
        request: Document,
        object: Document | None,
        old: Document | None,
        namespace: Document | None,
        params: Document | None,
        decisions: list[tuple[list[str], tuple[bool, str, str | None]]],
        budget: int,
        patience: float | None,
    ) -> tuple[list[tuple[bytes | None, str | None]], int, list[str] | None]:
        """Return results as JSON or errors, what is left of the budget, and a question to be answered first.

        The rest is -1 if they cost more, and -2 if they take more seconds than `patience`: without it, call this off
        the loop. A question is answered by its decision in a further call.
        """

@final
class Declaration:
    """The type of the objects of one kind, in expressions."""

    @staticmethod
    def published(document: Document, group: str, version: str, kind: str, name: str) -> Declaration | None:
        """Return the type of a kind of an OpenAPI v3 document; `name` is shown in messages. None if absent."""

    @staticmethod
    def defined(definition: Document, version: str, shared: Document, name: str) -> Declaration | None:
        """Return the type of a version of a definition; `shared` is an OpenAPI v3 document with that of metadata."""

    def issues(
        self, params: Declaration | None, variables: list[tuple[str, str]], texts: list[str], most: int
    ) -> list[str | None] | None:
        """Return the issues of each expression of a policy on such objects; None if they have more than `most` bytes.

        It may take long: call it off the loop.
        """

@final
class Catalog:
    def __new__(cls, data: bytes, minor: int, gates: list[str]) -> Catalog:
        """`gates`: the names of those that are on in the release of the minor version, whose rules the kinds follow."""

    def resource(self, group: str, version: str, plural: str) -> ResourceType: ...
    def kind(self, group: str, version: str, kind: str, type_name: str) -> ResourceType: ...
    def custom(self, definition: Stored) -> list[tuple[str, ResourceType]]: ...
    def custom_of(self, definition: bytes) -> list[tuple[str, ResourceType]]:
        """Return the types of a definition in JSON that is not stored, by the names of their versions."""

    @staticmethod
    def nonstructural(definition: Stored) -> tuple[str, str] | None: ...

@final
class ResourceType:
    def read(self, body: bytes, media: str) -> tuple[Draft, ObjectMeta, list[str]]:
        """Return the object in a body, its metadata, and strict errors. Raise DecodeError."""

    def decode(self, body: bytes, media: str) -> tuple[Draft, list[str]]: ...
    def apply(
        self,
        clock: Clock,
        live: Stored | None,
        config: bytes,
        manager: str,
        subresource: str,
        force: bool,
    ) -> Step[tuple[Draft, list[str]]]:
        """Return the step that gives the merged object and the strict errors of a configuration (YAML or JSON).

        Raise ApplyConflictError and DecodeError.
        """

    def overlay(self, object: bytes, config: bytes) -> bytes: ...
    def empty(self) -> Draft: ...
    @property
    def kind(self) -> str: ...
    @property
    def fingerprint(self) -> bytes: ...
    @property
    def api_version(self) -> str: ...
    def traits(self) -> list[str]: ...

@final
class Step(Generic[_T]):
    """One step of a write: a value that knows its price.

    It is done by the first call that returns a result; after `None`, it is taken up again where it was.
    """

    @property
    def size(self) -> int:
        """The bytes that it processes: the object, and the old version."""

    @property
    def has_rules(self) -> bool:
        """Whether it evaluates expressions, whose price only a try shows."""

    def here(self, time: float | None) -> _T | None:
        """Do the step on this thread, which has so many seconds for expressions; None: no time at all.

        Return None if it takes longer, or if it needs a conversion.
        """

    def there(self) -> _T | None:
        """Do the step on a thread of its own, without Python's lock. Return None if it needs a conversion."""

    @property
    def needs(self) -> tuple[bytes, str] | None:
        """The object (JSON) and the version that a webhook converts it to before the step can be done."""

    def answer(self, json: bytes | None, why: str = "") -> None:
        """Give the result of that conversion, or why it failed."""

@final
class ReadResult:
    """The result of the first step of a write: defaults and owners are set."""

    @property
    def duplicates(self) -> list[str]:
        """The uids of owners that were there twice; one of each is left."""

    @property
    def resource_version(self) -> str: ...
    @property
    def revision(self) -> int:
        """The number of the resource version; 0 for a text that upstream cannot parse into 64 bits."""

@final
class PrepareResult:
    """The result of the second step of a write: the object is ready for the validating admission."""

    @property
    def causes(self) -> list[tuple[str, str, str]]:
        """Reason, message and field of each cause for which it is refused."""

    @property
    def warnings(self) -> list[str]:
        """The warnings of the kind; for a new object that is refused, those it has all the same."""

    @property
    def deleting(self) -> bool:
        """Whether the object is being deleted."""

@final
class Clock:
    """The time of one server."""

    def __new__(cls) -> Clock: ...
    def nanoseconds(self) -> int:
        """Nanoseconds since 1970."""

    def text(self) -> str:
        """Return the present second in RFC 3339."""

    def elapsed(self) -> float:
        """Seconds since the clock was made; they never decrease."""

    @property
    def frozen(self) -> bool: ...
    def freeze(self, at: int | None = None) -> None:
        """Stop at nanoseconds since 1970, or now."""

    def advance(self, nanoseconds: int) -> None: ...
    def run(self) -> None:
        """Go on from the present moment."""

    def reset(self) -> None:
        """Return to the machine's time."""

@final
class Draft:
    def seal(self) -> None: ...
    def metadata(self) -> ObjectMeta: ...
    @property
    def size(self) -> int:
        """The approximate bytes of its JSON."""

    @property
    def uid(self) -> str: ...
    @property
    def resource_version(self) -> str: ...
    @property
    def names(self) -> tuple[str, str]:
        """Name, and prefix of a generated name."""

    def lifecycle(self) -> Lifecycle: ...
    def get(self, path: list[str]) -> bytes | None: ...
    def set(self, path: list[str], data: bytes | None) -> None: ...
    def set_type(self) -> None: ...
    def set_managed_fields(self, clock: Clock, manager: str, subresource: str = "") -> None: ...
    def default(self, clock: Clock) -> None: ...
    def read_new(self, clock: Clock, namespace: str, manager: str) -> Step[ReadResult]:
        """Return the step that sets namespace, defaults and owners of a new object; an empty manager: no owners."""

    def read_update(self, clock: Clock, old: Stored, manager: str, subresource: str) -> Step[ReadResult]:
        """Return the step that sets defaults and owners of an object that replaces `old`."""

    def fill_metadata(self, clock: Clock, name: str, uid: str) -> None: ...
    def keep_metadata(self, old: Stored) -> None: ...
    def keep_allocated(self, old: Stored) -> None: ...
    def prepare(
        self, clock: Clock, old: Stored | None = None, subresource: str = "", validates: bool = True
    ) -> Step[PrepareResult]:
        """Return the step that prepares an object as its strategy does, and validates it."""

    def revise(
        self, clock: Clock, old: Stored, manager: str, subresource: str, validates: bool
    ) -> tuple[ReadResult, PrepareResult]:
        """Do all steps of an update of a built-in kind but its admission and its commit."""

    def replicate(self, clock: Clock, name: str, uid: str) -> tuple[Draft, PrepareResult]:
        """Return a copy of a new object, which has been admitted, under a name of its own and prepared."""

    def assign_node(self, node: str, moment: str) -> tuple[str, str] | None:
        """Assign a pod to a node; return why not: `deletion`, `gates`, or `node` and its name."""

    def merge_status(self, report: bytes) -> None:
        """Set the members of a report in the status; conditions are replaced by those of the same types."""

    def dedup_owners(self) -> list[str]: ...
    def validate(self, old: Stored | None = None, subresource: str = "") -> list[tuple[str, str, str]]: ...
    def cluster_ip_causes(self, old: Stored | None = None) -> list[tuple[str, str, str]]: ...
    def prepare_warnings(self) -> list[str]:
        """Return the warnings that a new object has even if it is refused."""

    def fork(self) -> Draft: ...
    def to_convert(self) -> bytes | None: ...
    def set_converted(self, json: bytes) -> None: ...
    def replace(self, json: bytes) -> None: ...
    def json(self) -> bytes: ...
    def protobuf(self) -> bytes: ...
    def preview(self, revision: int) -> Stored: ...

@final
class ObjectMeta:
    """The members by which an object is known; empty where it has none."""

    @property
    def api_version(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def generate_name(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def uid(self) -> str: ...
    @property
    def resource_version(self) -> str: ...

@final
class Lifecycle:
    """How far the deletion of an object is."""

    @property
    def generation(self) -> int: ...
    @property
    def deletion_timestamp(self) -> str:
        """The time of deletion; empty when the object is not being deleted."""

    @property
    def grace_period(self) -> int | None:
        """The grace period in seconds."""

    @property
    def finalizers(self) -> list[str]: ...

@final
class Stored:
    @property
    def namespace(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> int: ...
    @property
    def uid(self) -> str: ...
    @property
    def identity(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def json(self) -> bytes: ...
    def member(self, name: str) -> bytes | None: ...
    def graph_members(self) -> bytes: ...
    def outline(self) -> bytes: ...
    def body(self, form: str, clock: Clock) -> bytes: ...
    def to_convert(self) -> bytes | None: ...
    def set_converted(self, json: bytes) -> None: ...
    def seen_as(self, resource: ResourceType) -> Stored: ...
    def thaw(self) -> Draft: ...
    def patch(
        self, resource: ResourceType, kind: str, patch: bytes, lenient: bool = False
    ) -> tuple[Draft, list[str]]: ...

@final
class Selector:
    def __new__(cls, resource: ResourceType, namespace: str, labels: str, fields: str) -> Selector: ...
    def matches(self, stored: Stored) -> bool: ...
    @property
    def plain(self) -> bool: ...
    @property
    def name(self) -> str | None: ...

@final
class ListCursor:
    @property
    def revision(self) -> int: ...
    @property
    def returned(self) -> int:
        """Return the number of items in the chunks so far."""

    @property
    def fetched(self) -> int:
        """Return the number of objects that a cache without indexes reads for the list, selected or not."""

    @property
    def is_packed(self) -> bool: ...
    def near(self) -> bool:
        """Search for the next object; return False if so many others come first that the search belongs on a thread."""

    def cheap(self) -> bool:
        """Report whether the next chunk is near, and made in little time."""

    def short(self) -> bool: ...
    def chunk(self, size: int, near: bool = False) -> list[bytes] | None:
        """Return the next items, with `near` no farther ones after the first, which was found before."""

    def open(self, text: bytes) -> bytes: ...
    def close(self, text: bytes) -> bytes: ...
    @overload
    def exceeds(self, size: int, near: Literal[False] = False) -> bool: ...
    @overload
    def exceeds(self, size: int, near: Literal[True]) -> bool | None:
        """Report whether the items are longer than `size` bytes; None if a near search does not find out."""

    def packed(self) -> ListCursor: ...
    def pending(self) -> list[Stored]: ...
    def versions(self, size: int, near: bool = False) -> list[Stored]:
        """Return the next objects, with `near` no farther ones after the first, which was found before."""

    @overload
    def ahead(self, near: Literal[False] = False) -> tuple[int, tuple[str, int | None] | None]: ...
    @overload
    def ahead(self, near: Literal[True]) -> tuple[int, tuple[str, int | None] | None] | None:
        """Return the length or number of all items, and the next page; None if a near search does not find out."""

    def envelope(self, items: int, token: str, remaining: int | None) -> bytes: ...
    def cbor_head(self, items: int, rest: str) -> bytes: ...
    def head(self, rest: str) -> bytes: ...

@final
class View:
    def __new__(cls, window: float, events: int, bytes: int, cache: int | None, clock: Clock) -> View: ...
    def shard(self, name: str) -> Shard: ...
    def load(self, name: str, states: list[tuple[int, Change]], revision: int) -> None: ...
    def apply(self, change: Change, revision: int) -> Stored | None: ...
    def progress(self, name: str, revision: int) -> None: ...
    def replace(self, name: str, states: list[tuple[int, Change]], revision: int) -> None: ...
    def forget(self, name: str) -> None: ...
    def checkpoint(self) -> Checkpoint: ...
    def begin_with(self, state: Checkpoint) -> None: ...
    def compact(self) -> None: ...
    def fileno(self) -> int: ...
    def close(self) -> None:
        """Close the descriptor; the objects remain readable."""

    def clear(self) -> None: ...
    def has_woken(self) -> bool: ...
    def take_woken(self) -> list[int]: ...

@final
class Local:
    def __new__(cls, view: View, start: int) -> Local: ...
    def commit(self, change: Change) -> Stored: ...
    def restore(self, view: View, state: Checkpoint) -> int: ...
    @property
    def revision(self) -> int: ...

@final
class Region:
    """Memory that the processes of one server map. Raise OSError."""

    def __new__(cls) -> Region: ...
    @staticmethod
    def open(fd: int, slot: int) -> Region:
        """Map the region of a descriptor as the process of a slot."""

    def fileno(self) -> int: ...
    @property
    def revision(self) -> int:
        """The latest revision that was published."""

    def add(self, counter: int, change: int) -> None:
        """Add to the share that this process has of a counter."""

    def counter(self, name: str) -> int:
        """Return the counter of a name, the same in every process. Raise OSError if there is none left."""

    def take(self, counter: int, change: int, limit: int) -> bool:
        """Add to the share of this process unless the sum would exceed a limit; return whether it was added."""

    def count(self, counter: int, slot: int) -> int:
        """Return the share that the process of a slot has."""

    def total(self, counter: int) -> int:
        """Return the sum of all shares."""

@final
class LinkRequest:
    """A write that a worker asks for."""

    def change(self, shard: Shard, resource: ResourceType) -> Change:
        """Return it for a log. Raise ExistsError, MissingError and ConflictError where the view shows them."""

_Start = tuple[int, int, int, list[str], list[int]]

@final
class LinkOwner:
    """The owner of the truth, for its workers. Raise OSError."""

    def __new__(cls, region: Region, view: View) -> LinkOwner:
        """Publish a view without shards."""

    def commit_to(self, local: Local) -> None:
        """Let a local log commit the writes of workers, on their threads."""

    def attach(self, slot: int, requests: int, outcomes: int) -> _Start:
        """Serve the worker of a slot over two sockets; return what it begins with."""

    def detach(self, slot: int) -> None:
        """Forget the worker of a slot, whose process has ended."""

    def fileno(self) -> int: ...
    def requests(self) -> list[tuple[int, int, str, str, int, LinkRequest]]:
        """Return slot, ticket, resource, key and expected revision of writes that another log decides, with them."""

    def answer(self, slot: int, ticket: int, revision: int, reason: str = "", message: str = "") -> None:
        """Tell a worker the outcome of a write."""

    def shared_size(self) -> tuple[int, int]:
        """Return the bytes of shared memory in use, and those of it that are free."""

    def close(self) -> None: ...

@final
class LinkWorker:
    """A worker of another process's truth. Raise OSError."""

    def __new__(cls, region: Region, view: View, start: _Start, requests: int, outcomes: int) -> LinkWorker: ...
    def submit(self, number: int, change: Change) -> None: ...
    def send(self) -> bool:
        """Send what was submitted; return whether all of it is sent."""

    def outcomes(self) -> list[tuple[int, Stored | None, RefusedError | None]]:
        """Return numbers of writes with the new version, which the view shows, or why there is none."""

    def catch_up(self, most: int) -> bool:
        """Apply some published changes at most; return whether the view has all."""

    def await_revision(self, revision: int) -> None:
        """Let the view signal that it is at a revision."""

    @property
    def revision(self) -> int:
        """The latest revision that was published."""

    @property
    def is_lapped(self) -> bool:
        """Whether the feed has passed this worker by."""

    def fileno(self) -> int: ...
    def requests_fileno(self) -> int: ...
    def close(self) -> None: ...

@final
class Durable:
    """The log of a view on a disk. Raise DataError."""

    def __new__(
        cls, view: View, path: str, first: int, interval: float | None, encryption: Encryption | None = None
    ) -> Durable: ...
    def submit(self, change: Change) -> int:
        """Begin a write and return its number, or the negative one of a write under way. Raise RefusedError."""

    def write(self) -> None:
        """Write everything that was begun, as one group."""

    def outcomes(self) -> list[tuple[int, Stored | None, RefusedError | None]]:
        """Return numbers of writes with the new version or why the write is refused."""

    def fileno(self) -> int: ...
    @property
    def revision(self) -> int: ...
    def problem(self) -> str: ...
    def stale(self, change: Change) -> bool:
        """Report whether the object of an update is stored in another form than it would be written in now."""

    def unread(self) -> int:
        """Return the number of objects that cannot be decrypted."""

    def fault(self, name: str, key: str) -> tuple[str, str, bool, int] | None:
        """Return storage key and revision of an object that cannot be read, why, and whether it is decrypted."""

    def faults(self, name: str) -> list[tuple[str, str, bool, int]]:
        """Return the objects of a resource that cannot be read, in the order of their keys."""

    def discard(self, shard: Shard, resource: ResourceType, key: str, revision: int) -> int:
        """Begin the deletion of one; return as `submit`. Raise MissingError, ConflictError, RefusedError."""

    def read_again(self) -> None:
        """Decrypt objects again that could not be decrypted; those that can become events. It may wait for plug-ins."""

    def compact(self) -> None: ...
    def fail(self, *, delay: float = 0.0, full: bool = False, sync: bool = False, torn: bool = False) -> None:
        """Fail from now on as a test wants it."""

    def close(self) -> None: ...

@final
class UpstreamFeed:
    """The feed of a resource from the bodies of another API server; one caller at a time."""

    def __new__(cls, view: View, name: str, resource: ResourceType, loaded: bool) -> UpstreamFeed: ...
    @property
    def resource(self) -> ResourceType:
        """The type whose objects are as the other server wrote them."""

    def begin(self, lists: bool) -> None:
        """Begin with another body; `lists`: with a list, which is complete or nothing."""

    def read(self, data: bytes) -> tuple[int, bool | None, int, str]:
        """Read the next bytes of a watch. Return the number of events, whether a list has ended (False: as `complete`),
        and the code and text of the error that ends the watch, 0 without. Raise DataError."""

    def read_page(self, body: bytes) -> tuple[int, str]:
        """Read a page of a list; return its version, and the token of the next page. Raise DataError."""

    def complete(self, revision: int) -> bool:
        """Make the objects of a list the state at a version; return False if the view has passed that version."""

@final
class Etcd:
    """The log of a view in etcd. Raise DataError."""

    def __new__(
        cls,
        view: View,
        clock: Clock,
        servers: list[str],
        prefix: str,
        authority: str | None = None,
        identity: tuple[str, str] | None = None,
        event_ttl: float = 0.0,
        compaction: float = 0.0,
        encryption: Encryption | None = None,
    ) -> Etcd: ...
    def follow(self, id: int, view: View, name: str, resource: ResourceType) -> None:
        """Load a collection, then feed it; its outcome has this number."""

    def submit(self, id: int, change: Change) -> None:
        """Begin a write, whose outcome has this number."""

    def ask(self, id: int) -> None:
        """Ask for the latest revision, which the outcome with this number has."""

    def started(self) -> None:
        """Record that all collections of the start are followed."""

    def outcomes(self) -> list[tuple[int, Stored | None, int, RefusedError | None]]:
        """Return numbers with the new version, the latest revision, or why there is none."""

    def fileno(self) -> int: ...
    @property
    def read(self) -> int:
        """The number of objects that were read to load collections."""

    def problem(self) -> str: ...
    def fault(self, name: str, key: str) -> tuple[str, str, bool, int] | None:
        """Return storage key and revision of an object that cannot be read, why, and whether it is decrypted."""

    def faults(self, name: str) -> list[tuple[str, str, bool, int]]:
        """Return the objects of a resource that cannot be read, in the order of their keys."""

    def discard(self, id: int, shard: Shard, resource: ResourceType, key: str, revision: int) -> None:
        """Begin the deletion of one; its outcome has this number."""

    def stale(self, change: Change) -> bool:
        """Report whether the object of an update is stored in another form than it would be now."""

    def close(self) -> None: ...

@final
class Encryption:
    """The encryption of objects at rest."""

    def __new__(cls, settings: str, clock: Clock, beside: Encryption | None = None) -> Encryption:
        """Take settings as JSON; `beside` has the counts. It may wait for plug-ins. Raise ValueError."""

    def adopt(self, other: Encryption) -> None:
        """Use the configuration of another from now on."""

    def health(self) -> list[tuple[str, str | None]]:
        """Return the name of each plug-in, and why it is not healthy as far as is known. It does not wait."""

    def numbers(self) -> list[tuple[str, list[str], float]]:
        """Return the family, the labels and the number of each row."""

    def durations(self) -> list[tuple[str, list[str], list[tuple[float, int]], float]]:
        """Return the family, the labels, cumulative counts by bucket, and the sum of seconds of each row."""

@final
class Checkpoint:
    """The state of all objects of a server at one moment; it holds memory for later changes only."""

    @staticmethod
    def load(data: bytes) -> Checkpoint:
        """Return a saved state. Raise ValueError with the reason of the refusal."""

    def save(self) -> bytes: ...
    def differences(self, other: Checkpoint) -> list[tuple[str, bytes | None, bytes | None]]:
        """Return the objects that differ: the name of the resource, and the JSON here and there."""

    @property
    def revision(self) -> int: ...
    def __len__(self) -> int: ...

@final
class Change:
    @staticmethod
    def create(shard: Shard, draft: Draft) -> Change: ...
    @staticmethod
    def update(shard: Shard, old: Stored, draft: Draft) -> Change: ...
    @staticmethod
    def delete(shard: Shard, old: Stored) -> Change: ...
    @property
    def resource(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def expected(self) -> int: ...
    @property
    def size(self) -> int: ...
    def shared_size(self) -> int: ...
    @property
    def deletes(self) -> bool: ...
    @property
    def unchanged(self) -> Stored | None: ...

@final
class Reindexed: ...

@final
class Shard:
    @property
    def revision(self) -> int: ...
    def get(self, resource: ResourceType, namespace: str, name: str) -> Stored | None: ...
    def standing(self, old: Stored) -> int: ...
    def list(
        self, resource: ResourceType, selector: Selector, form: str, limit: int = 0, revision: int = 0, start: str = ""
    ) -> ListCursor: ...
    def watch(
        self,
        resource: ResourceType,
        selector: Selector,
        form: str,
        revision: int | None,
        token: int,
        framed: bool,
    ) -> Watcher: ...
    def reindexed(self, resource: ResourceType) -> Reindexed: ...
    def adopt(self, resource: ResourceType, made: Reindexed) -> bool: ...
    def size(self) -> tuple[int, int, int]: ...

@final
class Watcher:
    def pending(self, max: int) -> list[Stored]: ...
    def drain(self, max: int) -> tuple[bytes | None, int]: ...
    def waits(self) -> bool:
        """Report whether changes wait to be drained."""

    def changes(self, max: int) -> tuple[list[tuple[Stored | None, Stored | None]], int]:
        """Return waiting changes as the versions before and after, and the number left, as `drain` does.

        The present state is first, as changes without a version before.
        """

    def position(self) -> tuple[int, int | None]:
        """Return the number of drained events, and the revision reached; None during the initial state."""

    def bookmark(self, initial: bool) -> bytes | None: ...

@disjoint_base
class Histogram:
    """Numbers of values by bucket, and their sum."""

    def __new__(cls, buckets: Sequence[float]) -> Self:
        """Take the upper bounds, in their order."""

    @property
    def buckets(self) -> list[float]: ...
    @property
    def counts(self) -> list[int]: ...
    @property
    def sum(self) -> float: ...
    def observe(self, value: float, times: int = 1) -> None:
        """Count a value, once or many times."""

    def add(self, other: Histogram) -> None:
        """Add the counts of another one, whose buckets are these and maybe finer ones."""

@final
class Work:
    """The estimated work of a request: seats while it runs, and for so many seconds afterwards."""

    def __new__(cls, first: int = 1, last: int = 0, extra: float = 0.0) -> Work: ...
    @property
    def first(self) -> int:
        """Seats while it runs."""

    @property
    def last(self) -> int:
        """Seats afterwards, while watchers get their events."""

    @property
    def extra(self) -> float:
        """How long that is, in seconds."""

@final
class FlowCounts:
    """The counts of one flow schema in one priority level: `apiserver_flowcontrol_...`."""

    def __new__(cls) -> FlowCounts: ...
    @property
    def executing(self) -> int:
        """Requests that run."""

    @property
    def seats(self) -> int:
        """Seats in use."""

    @property
    def waiting(self) -> int:
        """Requests that wait."""

    @property
    def waiting_seats(self) -> int:
        """Seats that they want."""

    @property
    def dispatched(self) -> int:
        """Requests that have run or do so."""

    @property
    def unfit(self) -> int:
        """Attempts to run a waiting request that found no free seats."""

    @property
    def rejected(self) -> dict[str, int]:
        """Refusals by reason."""

    @property
    def waited(self) -> tuple[Histogram, Histogram]:
        """Seconds of waits that ended with a run, and with a refusal."""

    @property
    def executed(self) -> tuple[Histogram, Histogram]:
        """Seconds of requests, and of watches until they began."""

    @property
    def work(self) -> Histogram:
        """Estimated seats."""

    @property
    def lengths(self) -> Histogram:
        """Lengths that requests found in their queue, with themselves."""

@final
class Flow:
    """The requests of a flow schema with the same distinguisher: they share a hand of queues."""

    def __new__(cls, counts: FlowCounts, schema: str, distinguisher: str, hand: Sequence[int], lines: bytes) -> Flow:
        """`lines` are header lines of answers."""

    @property
    def counts(self) -> FlowCounts: ...
    @property
    def schema(self) -> str: ...
    @property
    def distinguisher(self) -> str: ...
    @property
    def lines(self) -> bytes: ...

class _TurnHost(Protocol):
    """The object that marks the turns of a loop, and waits."""

    def mark(self) -> None:
        """Call `LoopTurns.end` in the next turn."""

@final
class Logins:
    """Logins by the digest of their token, each for so many seconds; the oldest leave if there are too many."""

    def __new__(cls, clock: Clock, seconds: int, most: int) -> Logins: ...
    def presented(self, header: str) -> Any:
        """Return the login of the token in an Authorization header of the usual form; None for any other."""

    def presented_life(self, header: str) -> tuple[int, int] | None:
        """Return from when until when such a login is kept, in nanoseconds since 1970, without counting a use."""

    def count(self, times: int) -> None:
        """Count logins that were found by other means."""

    def get(self, key: bytes) -> Any:
        """Return a login."""

    @property
    def hits(self) -> int:
        """Return the number of logins that were found."""

    def put(self, key: bytes, login: object) -> None:
        """Keep a login."""

    def clear(self) -> None:
        """Forget all."""

    def __len__(self) -> int: ...

@final
class KnownHeads:
    """A value for each block of header lines that requests came with; blocks are compared byte by byte."""

    def __new__(cls) -> KnownHeads: ...
    def find(self, data: bytes) -> tuple[str, str, Any, str | None, bytes] | None:
        """Return method, target, the value for the header lines, the length of the body as sent, and the body.

        None if these bytes are not one whole request, or if its lines have no value.
        """

    def keep(self, data: bytes, value: object) -> bool:
        """Keep a value for the header lines of one whole request, if they are few; report whether it is one."""

@final
class AuditIds:
    """The ids of requests that came without one: a prefix and a number."""

    def __new__(cls, prefix: str) -> AuditIds: ...
    def take(self) -> str:
        """Return the next id."""

@final
class Memo:
    """What was decided about a request that reads; it holds for those of the same client for objects beside it, or for
    the same list."""

    def __new__(
        cls,
        place: tuple[Shard, ResourceType, str],
        form: str,
        head: bytes,
        audit_id: str,
        holds: tuple[int, int],
        seats: tuple[Queues, Flow],
        counts: tuple[Histogram, Histogram],
        list: tuple[Selector, int, int, bool] | None = None,
    ) -> Memo:
        """Take the objects with their namespace, the form, the status line and header lines with their id, from when
        until when all of it holds in nanoseconds since 1970, the seats, and what counts durations in seconds and sizes
        in bytes. Of a list: the selection, the limit of items (0: none), the most seats (0: one), and whether an empty
        one is written like any other.

        Raise ValueError if the id is not in the lines exactly once, or for a form that is none.
        """

    def take_items(self) -> tuple[int, int]:
        """Return the objects that its lists were taken from, and those in them, since the last call."""

    def take_answers(self) -> int:
        """Return the number of answers that it gave since the last call."""

@final
class Memos:
    """Memos by the identity of a client, header lines, path up to the name, and query: all are compared whole."""

    def __new__(cls, clock: Clock, ids: AuditIds) -> Memos: ...
    def answer(self, identity: int, data: bytes) -> bytes | None:
        """Return the answer to a whole request; None without a memo, empty if the request has to go the long way.

        It has taken its seats, and is counted.
        """

    def keep(self, identity: int, data: bytes, memo: Memo, generation: int) -> list[Memo]:
        """Keep a memo for requests like one, unless all were dropped since a generation; return those it replaces."""

    def clear(self) -> list[Memo]:
        """Drop and return all memos; the next generation begins."""

    def rest_on(self, watchers: tuple[Watcher, ...]) -> None:
        """Give no answer while one of these watchers has changes."""

    @property
    def generation(self) -> int:
        """Return how often all memos were dropped."""

@final
class RequestClock:
    """The time of requests on one loop: it stands still while other classes of work have the loop."""

    def __new__(cls) -> RequestClock: ...
    def set_aside(self, seconds: float) -> None:
        """Count seconds that were not of requests."""

    def seconds(self) -> float:
        """Return seconds from an arbitrary point."""

@final
class LoopTurns:
    """The time of the loop, and the requests of all levels by kind."""

    def __new__(
        cls, host: _TurnHost, clock: RequestClock, queued: float, arrivals: float, gaps: bool = True
    ) -> LoopTurns:
        """Take the seconds of a turn for requests from queues, and for those that begin.

        `gaps`: requests have tickets, so that time without any of them shows the end of a turn.
        """

    def full(self) -> bool:
        """Report whether a request has to wait before it begins."""

    def end(self) -> int | None:
        """End a turn: return how many waiting requests may run in the next; None if none wait."""

    def limit(self, running: int, waiting: int) -> None:
        """Set how many requests may run and wait in all."""

    def requests(self, writes: bool, waits: bool) -> int:
        """Return the number of requests that run, or that wait."""

    def requests_over_time(self, writes: bool, waits: bool) -> Histogram:
        """Return how long which part of the limit ran, or waited, in nanoseconds."""

@final
class Queues:
    """The seats and queues of a priority level."""

    def __new__(cls, turns: LoopTurns, exempt: bool = False) -> Queues: ...
    def share(self, region: Region, name: str) -> None:
        """Take the seats from a limit that other processes take theirs from, too, under the name of the level."""

    def configure(self, nominal: int, limit: int, count: int, length: int) -> None:
        """Set the seats that are its own, those it has at present, the number of queues, and their length."""

    def enter(self, flow: Flow, request: object, verb: str) -> Ticket:
        """Begin a request of a level without a limit."""

    def start(self, flow: Flow, work: Work, request: object, verb: str) -> Ticket | None:
        """Begin a request, or let it wait; None if it is refused."""

    def dispatch(self, most: int) -> list[Any]:
        """Run so many waiting requests at most, as far as seats allow; return what they hold."""

    @property
    def limit(self) -> int:
        """The seats at present."""

    @property
    def backlog(self) -> int:
        """The number of queues with waiting requests."""

    @property
    def waiting(self) -> int:
        """Requests that wait."""

    @property
    def executing(self) -> int:
        """Requests that run."""

    @property
    def dispatched(self) -> int:
        """Requests that have run or do so."""

    @property
    def rejected(self) -> int:
        """Requests that were refused."""

    @property
    def late(self) -> int:
        """Those of them that had waited for too long."""

    @property
    def progress(self) -> float:
        """The virtual time: where the request served last began."""

    @property
    def seats(self) -> int:
        """The seats in use, those included that watchers take after their request."""

    @property
    def high(self) -> int:
        """The greatest demand between the last two looks; likewise the next three."""

    @property
    def average(self) -> float:
        """The average of the demand over time."""

    @property
    def deviation(self) -> float:
        """Its deviation."""

    @property
    def smoothed(self) -> float:
        """The average of several looks."""

    def look(self) -> None:
        """Complete the figures of a period, and begin the next."""

    def demands(self) -> Histogram:
        """Return how long which part of its own seats was in demand, in nanoseconds."""

    def uses(self) -> Histogram:
        """Return how long which part of its present seats was in use, in nanoseconds."""

    def requests_over_time(self, waits: bool) -> Histogram:
        """Return how long which part of the seats ran, or of the room in queues waited, in nanoseconds."""

    def states(self) -> list[tuple[int, int, int, float, int, int, float]]:
        """Return of each queue: waiting and running requests, seats, virtual time, seats wanted, at most, and work."""

    def requests(self) -> list[tuple[Any, Flow, Work, int | None, int | None, float, float | None]]:
        """Return requests that wait and run: flow, work, queue, place in it, seconds since they came and began."""

@final
class Ticket:
    """One request of a level; to be called at its end."""

    @property
    def waits(self) -> bool:
        """Whether it had to wait."""

    @property
    def executing(self) -> bool:
        """Whether it runs."""

    def hold(self, granted: object) -> None:
        """Keep what the request waits for, until its turn has come."""

    def expire(self) -> Any:
        """End the wait of a request that is refused or cancelled; return what it holds, None if it does not wait."""

    def __call__(self, _outcome: object) -> None:
        """End the request."""

    def end(self) -> None:
        """End the request: release its seats, at once or when watchers have their events."""

    def release(self) -> None:
        """Release the seats of a request that has ended."""

@final
class AuditRecord:
    """The events of one request: what they share is encoded once. Members of type `bytes` are JSON."""

    def referring(
        self,
        resource: str,
        namespace: str,
        name: str,
        group: str,
        version: str,
        subresource: str,
        uid: str,
        resource_version: str,
    ) -> AuditRecord:
        """Return the same record with another object."""
    def line(self, name: str, at: int, acts: bytes, answer: bytes, notes: bytes) -> bytes:
        """Return the event of a stage in one line, without its end; `at` is in nanoseconds since 1970."""

@final
class AuditLines:
    """Records of a log that wait to be written; each method that adds one returns their number, 0 without room."""

    def __new__(cls, most: int, most_bytes: int) -> AuditLines: ...
    def __len__(self) -> int: ...
    def put(self, line: bytes) -> int:
        """Add a line without its end."""

    def add(self, record: AuditRecord, name: str, at: int, acts: bytes, answer: bytes, notes: bytes) -> int:
        """Add the line of a stage."""

    def take(self) -> tuple[bytes, list[int]]:
        """Take all lines, and the end of each."""

def audit_record(
    level: int,
    id: str,
    uri: str,
    verb: str,
    user: bytes,
    sources: bytes,
    received: int,
    resource: str | None,
    namespace: str,
    name: str,
    group: str,
    version: str,
    subresource: str,
) -> AuditRecord: ...
def audit_sources(addresses: tuple[str, ...], agent: str) -> bytes: ...
def decode_continue(token: str) -> tuple[int, str]: ...
def encode_continue(revision: int, start: str) -> str: ...
def duration(text: str) -> float | None: ...
def json_patch(document: bytes, patch: bytes) -> bytes: ...
def json_path(path: str, object: bytes) -> bytes | None:
    """Return the first value of a path of client-go's JSONPath in an object, as JSON; None if there is none.

    Raise ValueError for a path that is none.
    """

def json_to_yaml(data: bytes) -> bytes: ...
def json_to_cbor(data: bytes) -> bytes: ...
def data_check(path: str, encryption: Encryption | None = None) -> tuple[int, int]: ...
def data_compact(path: str, encryption: Encryption | None = None) -> tuple[int, int]: ...
def data_backup(path: str, to: str, encryption: Encryption | None = None) -> tuple[int, int]: ...
def data_export(path: str, to: str, encryption: Encryption | None = None) -> tuple[int, int]: ...
def data_restore(path_from: str, path: str, present: int, encryption: Encryption | None = None) -> tuple[int, int]: ...
def cbor_to_json(data: bytes) -> bytes: ...
def storage_grows(draft: Draft, old: Stored) -> bool: ...
def node_shortage(draft: Draft, node: Stored) -> str: ...
def yaml_to_json(data: bytes) -> bytes: ...
def yaml_fault_line(data: bytes) -> int | None: ...
def label_requirements(selector: str) -> list[tuple[str, str, list[str]]] | None:
    """Return the requirements of a label selector by key, each with its operator and values; None for a malformed one.

    The operators are those of access reviews: In, NotIn, Exists, DoesNotExist; empty for a comparison of numbers.
    """

def field_requirements(selector: str) -> list[tuple[str, str, list[str]]] | None:
    """Return the requirements of a field selector, each with In or NotIn and one value; None for a malformed one."""

def is_label_requirement(key: str, operator: str, values: list[str]) -> bool:
    """Report whether a requirement on a label is valid (`labels.NewRequirement`)."""

def limit_fill(draft: Draft, range: bytes) -> None: ...
def limit_refusal(draft: Draft, range: bytes, claim: bool) -> str | None: ...
def quota_charge(
    draft: Draft, old: Stored | None, resource: tuple[str, str, str], quotas: list[Stored], limited: bytes
) -> tuple[list[tuple[int, bytes]], str | None, bool]: ...
def quota_usage(resource: tuple[str, str], quota: Stored, earlier: bytes, objects: list[Stored]) -> bytes:
    """Return the usage (JSON) of a quota by further objects of a resource (group, plural), beside that of earlier ones.

    Empty if the quota has no limit for the resource.
    """

def openapi_protobuf(document: bytes) -> bytes: ...
def pretty(data: bytes) -> bytes: ...
def watch_event(encoding: str, kind: str, object: bytes) -> bytes: ...

@final
class TlsConfig:
    def __new__(
        cls,
        chain: bytes,
        key: bytes,
        named: list[tuple[bytes, bytes, list[str]]],
        newest_only: bool,
        suites: list[str],
        authorities: list[bytes] | None,
    ) -> TlsConfig: ...

@final
class TlsConnection:
    def __new__(cls, config: TlsConfig) -> TlsConnection: ...
    @property
    def handshaking(self) -> bool: ...
    @property
    def ended(self) -> bool: ...
    @property
    def certificates(self) -> list[bytes]: ...
    def receive(self, bytes: bytes) -> tuple[bytes, bytes]: ...
    def send(self, text: bytes) -> bytes: ...
    def close(self) -> bytes: ...

@final
class ClientCa:
    def __new__(cls, pem: bytes) -> ClientCa: ...
    @property
    def names(self) -> list[bytes]: ...
    def verify(self, chain: list[bytes], now: float) -> tuple[str, list[str], str]: ...

@final
class ClientTarget:
    """A server to benchmark, and the credentials for it."""

    def __new__(
        cls,
        addresses: list[tuple[str, int]],
        host: str,
        authorization: str | None,
        tls: tuple[str, bytes | None, tuple[bytes, bytes] | None] | None,
    ) -> ClientTarget:
        """Make a target. TLS has the server's name, the authorities (None trusts any), and the client's pair."""

@final
class ClientRun:
    """A run of the benchmark's client, on a thread of its own."""

    def __new__(cls, target: ClientTarget, plan: bytes) -> ClientRun:
        """Open the connections of a plan, which is JSON."""

    def go(self) -> None: ...
    def stop(self) -> None: ...
    def wait(self, phase: str, seconds: float) -> str:
        """Wait for a later phase than this one: opening, ready, running, closing, over. Return the present one."""

    def progress(self) -> tuple[str, int, int, float, int, int, tuple[float, float] | None]:
        """Return phase, agents that are ready, operations, seconds, bytes received, bytes sent, recent p50 and p99."""

    def outcome(self) -> tuple[bytes, tuple[int, bytes] | None]:
        """Wait for the end. Return the outcome as JSON, and status and body of a single request."""

def watchers_wait(watchers: tuple[Watcher, ...]) -> bool:
    """Report whether any of several watchers has changes."""

def merge_metrics(running: list[str], ended: list[str], summed: list[str]) -> str:
    """Return the metrics of several processes as those of one server.

    Counters, histograms and the gauges named in `summed` add up; of other gauges the largest counts. Processes of
    `ended` no longer run: only what they counted stays.
    """

def rule_durations() -> tuple[Histogram, Histogram]:
    """Return the durations of the compilations, and of the evaluations, of the rules of definitions in this process."""

def certificate_end(certificate: bytes) -> int | None:
    """Return the last second in which a certificate in DER is valid; None for a malformed one."""

def token_digest(token: bytes) -> bytes:
    """Return the SHA-256 under which a token is known."""

def new_authority(now: int) -> tuple[str, str]: ...
def new_certificate(
    authority_key: bytes, names: list[str], user: tuple[str, str] | None, now: int
) -> tuple[str, str]: ...
def usable_certificate(
    certificate: str, key: str, authority: bytes, names: list[str], user: tuple[str, str] | None, now: int
) -> bool: ...
