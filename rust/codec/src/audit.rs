//! The JSON of audit events, one line each (apiserver `pkg/apis/audit/v1/types.go`).

use hydrofoil_types::Timestamp;

use crate::json::write_string;

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

/// The event of one stage of a request. Members of type `&[u8]` are JSON.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The number of the level; events of level 0 have no line.
    pub level: u8,
    /// The id of the request.
    pub id: &'a str,
    /// The stage.
    pub stage: &'a str,
    /// The path and query of the request.
    pub uri: &'a str,
    /// The verb.
    pub verb: &'a str,
    /// The user.
    pub user: &'a [u8],
    /// Members about the user that the request acts as, each followed by a comma.
    pub acts: &'a [u8],
    /// The user agent; empty if there is none.
    pub agent: &'a str,
    /// The object of the request, if it is for a resource.
    pub object: Option<Reference<'a>>,
    /// Members about the answer and the objects, each followed by a comma.
    pub answer: &'a [u8],
    /// The time of the arrival of the request.
    pub received: Timestamp,
    /// The time of the stage.
    pub at: Timestamp,
    /// The annotations, with a comma before them; empty if there are none.
    pub notes: &'a [u8],
}

impl Event<'_> {
    /// Return the event in one line, without its end. `addresses` are those that the request came by.
    pub fn line<'a>(&self, addresses: impl IntoIterator<Item = &'a str>) -> Vec<u8> {
        let mut out = Vec::with_capacity(768_usize.saturating_add(self.answer.len()));
        let level = LEVELS.get(usize::from(self.level)).copied().unwrap_or_default();
        put(&mut out, &[br#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":""#, level.as_bytes()]);
        member(&mut out, br#"","auditID":"#, self.id);
        member(&mut out, br#","stage":"#, self.stage);
        member(&mut out, br#","requestURI":"#, self.uri);
        member(&mut out, br#","verb":"#, self.verb);
        put(&mut out, &[br#","user":"#, self.user, b",", self.acts]);
        for (number, address) in addresses.into_iter().enumerate() {
            member(&mut out, if number == 0 { br#""sourceIPs":["# } else { b"," }, address);
        }
        if out.last() == Some(&b'"') {
            out.extend_from_slice(b"],");
        }
        if !self.agent.is_empty() {
            member(&mut out, br#""userAgent":"#, self.agent);
            out.push(b',');
        }
        if let Some(object) = &self.object {
            object.write(&mut out);
        }
        let (received, at) = (self.received.rfc3339_micro(), self.at.rfc3339_micro());
        put(&mut out, &[self.answer, br#""requestReceivedTimestamp":""#, received.as_bytes()]);
        put(&mut out, &[br#"","stageTimestamp":""#, at.as_bytes(), b"\"", self.notes, b"}"]);
        if out.is_ascii() { out } else { one_line(&out) }
    }
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

    use super::{Event, Reference};

    fn event() -> Event<'static> {
        let at = |text| Timestamp::parse(text).expect("a time");
        Event {
            level: 1,
            id: "a",
            stage: "RequestReceived",
            uri: "/x?a=1&b=2",
            verb: "get",
            user: b"{}",
            acts: b"",
            agent: "",
            object: None,
            answer: b"",
            received: at("2026-01-02T03:04:05.000006Z"),
            at: at("2026-01-02T03:04:05.000007Z"),
            notes: b"",
        }
    }

    fn text(event: &Event<'_>, addresses: &[&str]) -> String {
        String::from_utf8(event.line(addresses.iter().copied())).expect("it is text")
    }

    #[test]
    fn absent_members_are_left_out() {
        let expected = concat!(
            r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"a","#,
            r#""stage":"RequestReceived","requestURI":"/x?a=1\u0026b=2","verb":"get","user":{},"#,
            r#""requestReceivedTimestamp":"2026-01-02T03:04:05.000006Z","#,
            r#""stageTimestamp":"2026-01-02T03:04:05.000007Z"}"#,
        );
        assert_eq!(text(&event(), &[]), expected);
    }

    #[test]
    fn all_members_have_their_places() {
        let object = Reference { resource: "pods", name: "p", version: "v1", ..Reference::default() };
        let full = Event {
            acts: br#""impersonatedUser":{},"#,
            agent: "x",
            object: Some(object),
            answer: br#""responseStatus":{"code":200},"#,
            notes: br#","annotations":{}"#,
            ..event()
        };
        let expected = concat!(
            r#""user":{},"impersonatedUser":{},"sourceIPs":["192.0.2.1","::1"],"userAgent":"x","#,
            r#""objectRef":{"resource":"pods","name":"p","apiVersion":"v1"},"responseStatus":{"code":200},"#,
            r#""requestReceivedTimestamp":"2026-01-02T03:04:05.000006Z","#,
            r#""stageTimestamp":"2026-01-02T03:04:05.000007Z","annotations":{}}"#,
        );
        assert!(text(&full, &["192.0.2.1", "::1"]).ends_with(expected));
    }

    #[test]
    fn line_breaks_of_other_alphabets_are_escaped() {
        let user = "{\"username\":\"a\u{85}b\u{2028}c\u{2029}d\u{e9}\"}";
        let made = text(&Event { user: user.as_bytes(), agent: "\u{85}\u{2028}\n", ..event() }, &[]);
        assert!(made.contains("\"a\\u0085b\\u2028c\\u2029d\u{e9}\""));
        assert!(made.contains(r#""userAgent":"\u0085\u2028\n""#));
    }
}
