//! The JSON of audit events, one line each (apiserver `pkg/apis/audit/v1/types.go`).

use hydrofoil_codec::json::write_string;
use hydrofoil_types::Timestamp;

/// The names of the levels, by number.
const LEVELS: [&str; 4] = ["None", "Metadata", "Request", "RequestResponse"];

/// Line breaks that JSON allows in texts, and their escapes: an event stays one line for every reader.
const BREAKS: [(&[u8], &[u8]); 3] =
    [(b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"), (b"\xc2\x85", b"\\u0085")];

/// The members of the reference to an object; empty ones are left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reference<'a> {
    /// The resource in the URL.
    pub resource: &'a str,
    /// The namespace of the object.
    pub namespace: &'a str,
    /// The name of the object.
    pub name: &'a str,
    /// The uid in the body.
    pub uid: &'a str,
    /// The API group.
    pub group: &'a str,
    /// The version in the URL.
    pub version: &'a str,
    /// The resource version in the body.
    pub resource_version: &'a str,
    /// The subresource in the URL.
    pub subresource: &'a str,
}

/// The members that the events of a request share. Those of type `&[u8]` are JSON.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The number of the level; requests of level 0 have no events.
    pub level: u8,
    /// The id of the request.
    pub id: &'a str,
    /// The path and query of the request.
    pub uri: &'a str,
    /// The verb.
    pub verb: &'a str,
    /// The user.
    pub user: &'a [u8],
    /// Members about the client, each followed by a comma: those of `sources`.
    pub sources: &'a [u8],
    /// The object of the request, if it is for a resource.
    pub object: Option<Reference<'a>>,
    /// The time of the arrival of the request.
    pub received: Timestamp,
}

/// The members of one stage. Those of type `&[u8]` are JSON.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stage<'a> {
    /// The name of the stage.
    pub name: &'a str,
    /// The time of the stage.
    pub at: Timestamp,
    /// Members about the user that the request acts as, each followed by a comma.
    pub acts: &'a [u8],
    /// Members about the answer and the objects, each followed by a comma.
    pub answer: &'a [u8],
    /// The annotations, with a comma before them; empty if there are none.
    pub notes: &'a [u8],
}

/// The events of one request: what they share is encoded once.
#[derive(Clone, Debug)]
pub struct Record {
    /// The members before the stage; then those up to the user, the sources, the object, and the time of the arrival.
    shared: Vec<u8>,
    /// The ends of the first four parts.
    ends: [usize; 4],
}

impl Record {
    /// Encode what the events of a request share.
    pub fn new(request: &Request<'_>) -> Self {
        let mut out = Vec::with_capacity(768);
        let level = LEVELS.get(usize::from(request.level)).copied().unwrap_or_default();
        put(&mut out, &[br#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":""#, level.as_bytes()]);
        member(&mut out, br#"","auditID":"#, request.id);
        out.extend_from_slice(br#","stage":"#);
        let stage = out.len();
        member(&mut out, br#","requestURI":"#, request.uri);
        member(&mut out, br#","verb":"#, request.verb);
        put(&mut out, &[br#","user":"#, request.user, b","]);
        let user = out.len();
        out.extend_from_slice(request.sources);
        let sources = out.len();
        if let Some(object) = &request.object {
            object.write(&mut out);
        }
        let object = out.len();
        out.extend_from_slice(br#""requestReceivedTimestamp":""#);
        request.received.write_micro(&mut out);
        out.extend_from_slice(br#"","stageTimestamp":""#);
        Self { shared: out, ends: [stage, user, sources, object] }
    }

    /// Return the same record with another object.
    #[must_use]
    pub fn referring(&self, to: &Reference<'_>) -> Self {
        let [stage, user, sources, before] = self.ends;
        let (head, tail) = (self.part(0, sources), self.part(before, self.shared.len()));
        let mut out = Vec::with_capacity(self.shared.len().saturating_add(256));
        out.extend_from_slice(head);
        to.write(&mut out);
        let object = out.len();
        out.extend_from_slice(tail);
        Self { shared: out, ends: [stage, user, sources, object] }
    }

    /// Append the event of a stage in one line, without its end.
    pub fn write(&self, stage: &Stage<'_>, out: &mut Vec<u8>) {
        let [head, user, _, object] = self.ends;
        let begin = out.len();
        out.reserve([self.shared.len(), stage.acts.len(), stage.answer.len(), stage.notes.len(), 128].iter().sum());
        out.extend_from_slice(self.part(0, head));
        write_string(out, stage.name);
        let (before, after) = (self.part(user, object), self.part(object, self.shared.len()));
        put(out, &[self.part(head, user), stage.acts, before, stage.answer, after]);
        stage.at.write_micro(out);
        put(out, &[b"\"", stage.notes, b"}"]);
        let made = out.get(begin..).unwrap_or_default();
        if !made.is_ascii() {
            let made = one_line(made);
            out.truncate(begin);
            out.extend_from_slice(&made);
        }
    }

    fn part(&self, from: usize, to: usize) -> &[u8] {
        self.shared.get(from..to).unwrap_or_default()
    }
}

/// Return the members about a client, each followed by a comma: the addresses that it came by, and its user agent.
pub fn sources<'a>(addresses: impl IntoIterator<Item = &'a str>, agent: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, address) in addresses.into_iter().enumerate() {
        member(&mut out, if number == 0 { br#""sourceIPs":["# } else { b"," }, address);
    }
    if !out.is_empty() {
        out.extend_from_slice(b"],");
    }
    if !agent.is_empty() {
        member(&mut out, br#""userAgent":"#, agent);
        out.push(b',');
    }
    out
}

impl Reference<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        let members: [(&[u8], &str); 8] = [
            (br#""resource":"#, self.resource),
            (br#""namespace":"#, self.namespace),
            (br#""name":"#, self.name),
            (br#""uid":"#, self.uid),
            (br#""apiGroup":"#, self.group),
            (br#""apiVersion":"#, self.version),
            (br#""resourceVersion":"#, self.resource_version),
            (br#""subresource":"#, self.subresource),
        ];
        out.extend_from_slice(br#""objectRef":{"#);
        let mut begun = false;
        for (head, value) in members.into_iter().filter(|(_, value)| !value.is_empty()) {
            if begun {
                out.push(b',');
            }
            begun = true;
            member(out, head, value);
        }
        out.extend_from_slice(b"},");
    }
}

fn put(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
}

fn member(out: &mut Vec<u8>, head: &[u8], value: &str) {
    out.extend_from_slice(head);
    write_string(out, value);
}

/// Return JSON without the line breaks that it may have in texts.
fn one_line(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((first, after)) = rest.split_first() {
        let found = BREAKS.iter().find(|(broken, _)| rest.starts_with(broken));
        if let Some((broken, escaped)) = found {
            out.extend_from_slice(escaped);
            rest = rest.get(broken.len()..).unwrap_or_default();
        } else {
            out.push(*first);
            rest = after;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use hydrofoil_types::Timestamp;

    use super::{Record, Reference, Request, Stage, sources};

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("a time")
    }

    fn request() -> Request<'static> {
        Request {
            level: 1,
            id: "a",
            uri: "/x?a=1&b=2",
            verb: "get",
            user: b"{}",
            sources: b"",
            object: None,
            received: at("2026-01-02T03:04:05.000006Z"),
        }
    }

    fn text(record: &Record, stage: &Stage<'_>) -> String {
        let at = at("2026-01-02T03:04:05.000007Z");
        let mut out = b"before\xe2\x80\xa8".to_vec();
        record.write(&Stage { at, ..*stage }, &mut out);
        String::from_utf8(out.split_off(9)).expect("it is text")
    }

    #[test]
    fn absent_members_are_left_out() {
        let expected = concat!(
            r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"a","#,
            r#""stage":"RequestReceived","requestURI":"/x?a=1\u0026b=2","verb":"get","user":{},"#,
            r#""requestReceivedTimestamp":"2026-01-02T03:04:05.000006Z","#,
            r#""stageTimestamp":"2026-01-02T03:04:05.000007Z"}"#,
        );
        assert_eq!(text(&Record::new(&request()), &Stage { name: "RequestReceived", ..Stage::default() }), expected);
    }

    #[test]
    fn all_members_have_their_places() {
        let object = Reference { resource: "pods", name: "p", version: "v1", ..Reference::default() };
        let full = Stage {
            name: "ResponseComplete",
            acts: br#""impersonatedUser":{},"#,
            answer: br#""responseStatus":{"code":200},"#,
            notes: br#","annotations":{}"#,
            ..Stage::default()
        };
        let client = sources(["192.0.2.1", "::1"], "x");
        let sent = Record::new(&Request { sources: &client, object: Some(object), ..request() });
        let expected = |object: &str| {
            [
                r#""stage":"ResponseComplete","requestURI":"/x?a=1\u0026b=2","verb":"get","#,
                r#""user":{},"impersonatedUser":{},"sourceIPs":["192.0.2.1","::1"],"userAgent":"x","objectRef":"#,
                object,
                r#","responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-02T03:04:05.000006Z","#,
                r#""stageTimestamp":"2026-01-02T03:04:05.000007Z","annotations":{}}"#,
            ]
            .concat()
        };
        assert!(text(&sent, &full).ends_with(&expected(r#"{"resource":"pods","name":"p","apiVersion":"v1"}"#)));
        let named = sent.referring(&Reference { name: "q", uid: "1", ..object });
        let shown = r#"{"resource":"pods","name":"q","uid":"1","apiVersion":"v1"}"#;
        assert!(text(&named, &full).ends_with(&expected(shown)));
    }

    #[test]
    fn line_breaks_of_other_alphabets_are_escaped() {
        let user = "{\"username\":\"a\u{85}b\u{2028}c\u{2029}d\u{e9}\"}";
        let client = sources([], "\u{85}\u{2028}\n");
        let sent = Record::new(&Request { user: user.as_bytes(), sources: &client, ..request() });
        let made = text(&sent, &Stage::default());
        assert!(made.contains("\"a\\u0085b\\u2028c\\u2029d\u{e9}\""));
        assert!(made.contains(r#""userAgent":"\u0085\u2028\n""#));
    }
}
