//! An answer that is wrong: it ends the case.

/// Why an answer is wrong, with the name of the object where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong(pub String);

impl From<crate::http::Malformed> for Wrong {
    fn from(why: crate::http::Malformed) -> Self {
        Self(format!("an answer that is no HTTP: {}", why.0))
    }
}
