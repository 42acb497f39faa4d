//! Continue tokens, as upstream writes them (apiserver `pkg/storage/continue.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde_json::Value;

const VERSION: &str = "meta.k8s.io/v1";

/// The position of a list, and its revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContinueToken {
    /// The revision of the list; -1 means the latest one.
    pub revision: i64,
    /// The first key to return, relative to the prefix of the list.
    pub start: String,
}

#[derive(Default, Serialize)]
struct Wire {
    v: String,
    rv: i64,
    start: String,
}

/// Return Go's message for text that is no JSON.
fn syntax(data: &[u8], error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let found = data.get(error.column().saturating_sub(1)).map_or(' ', |byte| char::from(*byte));
    let text = error.to_string();
    let place = [
        ("key must be a string", "looking for beginning of object key string"),
        ("expected `:`", "after object key"),
        ("expected `,` or `}`", "after object key:value pair"),
        ("expected `,` or `]`", "after array element"),
        ("trailing characters", "after top-level value"),
    ];
    let place =
        place.iter().find(|(begin, _)| text.starts_with(begin)).map_or("looking for beginning of value", |p| p.1);
    format!("invalid character '{found}' {place}")
}

/// Return the content of a token, or Go's message for a value of another type.
fn read(value: &Value) -> Result<Wire, String> {
    let object = match value {
        Value::Null => return Ok(Wire::default()),
        Value::Object(object) => object,
        other => {
            return Err(format!("json: cannot unmarshal {} into Go value of type storage.continueToken", name(other)));
        }
    };
    let wrong = |field: &str, value: &Value, kind: &str| {
        let shown =
            if kind == "int64" && value.is_number() { format!("number {value}") } else { name(value).to_owned() };
        Err(format!("json: cannot unmarshal {shown} into Go struct field continueToken.{field} of type {kind}"))
    };
    let text = |field: &str| match object.get(field) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => wrong(field, other, "string"),
    };
    let rv = match object.get("rv") {
        None | Some(Value::Null) => 0,
        Some(value) => match value.as_i64() {
            Some(rv) => rv,
            None => return wrong("rv", value, "int64").map(|_: String| Wire::default()),
        },
    };
    Ok(Wire { v: text("v")?, rv, start: text("start")? })
}

fn name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The error of an invalid token; the text is upstream's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenError(String);

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "continue key is not valid: {}", self.0)
    }
}

impl std::error::Error for TokenError {}

impl ContinueToken {
    /// Return the token after `last`, the last returned key.
    pub fn after(revision: i64, last: &str) -> Self {
        Self { revision, start: format!("{last}\0") }
    }

    /// Encode as an opaque string.
    pub fn encode(&self) -> String {
        let wire = Wire { v: VERSION.to_owned(), rv: self.revision, start: self.start.clone() };
        // A struct of strings and a number always has a JSON form; Go escapes the zero byte the same way.
        URL_SAFE_NO_PAD.encode(serde_json::to_string(&wire).expect("plain data"))
    }

    /// Decode an opaque string.
    pub fn decode(text: &str) -> Result<Self, TokenError> {
        let data = URL_SAFE_NO_PAD.decode(text).map_err(|e| {
            let at = match e {
                base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => at,
                base64::DecodeError::InvalidPadding => text.find('=').unwrap_or_default(),
                base64::DecodeError::InvalidLength(_) => text.len() / 4 * 4,
            };
            TokenError(format!("illegal base64 data at input byte {at}"))
        })?;
        let value = serde_json::from_slice(&data).map_err(|e| TokenError(syntax(&data, &e)))?;
        let wire = read(&value).map_err(TokenError)?;
        if wire.v != VERSION {
            return Err(TokenError(format!("server does not recognize this encoded version {}", wire.v)));
        }
        if wire.rv == 0 {
            return Err(TokenError("incorrect encoded start resourceVersion (version meta.k8s.io/v1)".to_owned()));
        }
        if wire.start.is_empty() {
            return Err(TokenError("encoded start key empty (version meta.k8s.io/v1)".to_owned()));
        }
        if !clean(&wire.start) {
            return Err(TokenError(wire.start));
        }
        Ok(Self { revision: wire.rv, start: wire.start })
    }
}

/// Report whether a key stays within its prefix: no part is empty, `.` or `..`.
fn clean(start: &str) -> bool {
    start.trim_end_matches('\0').split('/').all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::ContinueToken;

    #[test]
    fn reads_what_it_writes() {
        let token = ContinueToken::after(7, "ns/name");
        assert_eq!(ContinueToken::decode(&token.encode()).unwrap(), token);
        assert_eq!(token.encode(), "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Nywic3RhcnQiOiJucy9uYW1lXHUwMDAwIn0");
    }

    #[test]
    fn states_which_part_is_absent() {
        let message = |text: &str| ContinueToken::decode(text).unwrap_err().to_string();
        assert_eq!(message("e30"), "continue key is not valid: server does not recognize this encoded version ");
        // {"v":"meta.k8s.io/v1"}
        let text = "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)";
        assert_eq!(message("eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ"), text);
    }

    #[test]
    fn words_of_go_for_other_texts() {
        use base64::Engine as _;
        let message = |json: &str| {
            let text = super::URL_SAFE_NO_PAD.encode(json);
            let why = ContinueToken::decode(&text).unwrap_err().to_string();
            why.trim_start_matches("continue key is not valid: ").to_owned()
        };
        for (json, why) in [
            ("[]", "json: cannot unmarshal array into Go value of type storage.continueToken"),
            (r#"{"rv":"5"}"#, "json: cannot unmarshal string into Go struct field continueToken.rv of type int64"),
            (r#"{"rv":1.5}"#, "json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64"),
            (r#"{"v":1}"#, "json: cannot unmarshal number into Go struct field continueToken.v of type string"),
            ("{nojson", "invalid character 'n' looking for beginning of object key string"),
            (r#"{"v" 1}"#, "invalid character '1' after object key"),
            (r#"{"v":"a" "b"}"#, "invalid character '\"' after object key:value pair"),
            ("{} x", "invalid character 'x' after top-level value"),
            ("x", "invalid character 'x' looking for beginning of value"),
            (r#"{"v":"#, "unexpected end of JSON input"),
            ("null", "server does not recognize this encoded version "),
        ] {
            assert_eq!(message(json), why);
        }
        let padded = ContinueToken::decode("e30=").unwrap_err().to_string();
        assert_eq!(padded, "continue key is not valid: illegal base64 data at input byte 3");
    }

    #[test]
    fn refuses_escapes() {
        let token = ContinueToken { revision: 5, start: "../secrets/x".into() };
        assert!(ContinueToken::decode(&token.encode()).is_err());
    }
}
