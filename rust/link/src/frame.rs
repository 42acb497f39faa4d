//! What goes over the socket between the owner and a worker. Both are of the same build: numbers are 64 bits, least
//! byte first, and texts have their length in front.

use hydrofoil_store::Draft;

/// A conditional write.
#[derive(Clone, Debug)]
pub struct Request {
    /// The worker's number of it.
    pub ticket: u64,
    /// The name of the resource.
    pub resource: String,
    /// The key of the object.
    pub key: String,
    /// The revision at which the object must be; 0 if it must not exist.
    pub expected: u64,
    /// The object; `None` if it is deleted.
    pub draft: Option<Draft>,
}

/// Why a write was not done, or may not have been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// An object with that key exists.
    Exists,
    /// None exists.
    Missing,
    /// It is at another revision.
    Conflict,
    /// The log refused it.
    Refused,
    /// The log cannot be reached.
    Unavailable,
    /// It may have been done.
    Unknown,
    /// It may have been done: the disk failed.
    Undecided,
}

const REASONS: [Reason; 7] = [
    Reason::Exists,
    Reason::Missing,
    Reason::Conflict,
    Reason::Refused,
    Reason::Unavailable,
    Reason::Unknown,
    Reason::Undecided,
];

impl Reason {
    /// Return the name, as logs have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exists => "exists",
            Self::Missing => "missing",
            Self::Conflict => "conflict",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
            Self::Unknown => "unknown",
            Self::Undecided => "undecided",
        }
    }

    /// Return the reason of a name; an unknown one promises nothing.
    pub fn of(name: &str) -> Self {
        REASONS.into_iter().find(|reason| reason.name() == name).unwrap_or(Self::Unknown)
    }
}

/// The result of a write: its revision, or why there is none.
pub type Outcome = Result<u64, (Reason, String)>;

/// Append a request.
pub(crate) fn write_request(
    out: &mut Vec<u8>,
    ticket: u64,
    (resource, key): (&str, &str),
    expected: u64,
    draft: Option<&Draft>,
) {
    write_frame(out, |out| {
        number(out, ticket);
        number(out, expected);
        text(out, resource.as_bytes());
        text(out, key.as_bytes());
        if let Some(draft) = draft {
            draft.write(out);
        }
    });
}

/// Read the body of a request; `None` if it is none.
pub(crate) fn read_request(body: &[u8]) -> Option<Request> {
    let mut reader = Reader(body);
    let (ticket, expected) = (reader.number()?, reader.number()?);
    let (resource, key) = (reader.text()?, reader.text()?);
    let draft = if reader.0.is_empty() { None } else { Some(Draft::read(reader.0).ok()?) };
    Some(Request { ticket, resource, key, expected, draft })
}

/// Append an outcome.
pub(crate) fn write_outcome(out: &mut Vec<u8>, ticket: u64, outcome: &Outcome) {
    write_frame(out, |out| {
        number(out, ticket);
        match outcome {
            Ok(revision) => {
                number(out, 0);
                number(out, *revision);
            }
            Err((reason, why)) => {
                let at = REASONS.iter().position(|one| one == reason).unwrap_or_default();
                number(out, (at as u64).saturating_add(1));
                text(out, why.as_bytes());
            }
        }
    });
}

/// Read the body of an outcome; `None` if it is none.
pub(crate) fn read_outcome(body: &[u8]) -> Option<(u64, Outcome)> {
    let mut reader = Reader(body);
    let ticket = reader.number()?;
    let outcome = match reader.number()?.checked_sub(1) {
        None => Ok(reader.number()?),
        Some(at) => Err((*REASONS.get(usize::try_from(at).ok()?)?, reader.text()?)),
    };
    Some((ticket, outcome))
}

/// Take the body of the first frame from a buffer, from an offset on; `None` if it is not complete.
pub(crate) fn next<'b>(buffer: &'b [u8], at: &mut usize) -> Option<&'b [u8]> {
    let (length, rest) = buffer.get(*at..)?.split_first_chunk::<8>()?;
    let body = rest.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    *at = at.saturating_add(body.len()).saturating_add(8);
    Some(body)
}

fn write_frame(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    number(out, 0);
    body(out);
    let length = (out.len().saturating_sub(start) as u64).saturating_sub(8);
    if let Some(place) = out.get_mut(start..).and_then(|rest| rest.first_chunk_mut()) {
        *place = length.to_le_bytes();
    }
}

fn number(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn text(out: &mut Vec<u8>, value: &[u8]) {
    number(out, value.len() as u64);
    out.extend_from_slice(value);
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }

    fn text(&mut self) -> Option<String> {
        let size = usize::try_from(self.number()?).ok()?;
        let (first, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        String::from_utf8(first.to_vec()).ok()
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "they cut bytes that they made")]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_written() {
        let mut out = Vec::new();
        write_request(&mut out, 7, ("pods", "a/m"), 3, None);
        write_outcome(&mut out, 8, &Ok(5));
        write_outcome(&mut out, 9, &Err((Reason::Undecided, "why".to_owned())));
        let mut at = 0;
        let request = next(&out, &mut at).and_then(read_request).expect("it is complete");
        assert_eq!((request.ticket, &*request.resource, &*request.key, request.expected), (7, "pods", "a/m", 3));
        assert!(request.draft.is_none());
        assert_eq!(next(&out, &mut at).and_then(read_outcome), Some((8, Ok(5))));
        let end = out.len();
        assert!(next(&out[..end - 1], &mut at).is_none(), "a byte is missing");
        let last = next(&out, &mut at).and_then(read_outcome);
        assert_eq!(last, Some((9, Err((Reason::Undecided, "why".to_owned())))));
        assert_eq!((at, next(&out, &mut at)), (end, None));
    }
}
