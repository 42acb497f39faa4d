//! Certificates, signing requests and their signatures, as Go's `crypto/x509` and `encoding/pem` read them.
//!
//! It reads the parts that the rules of API objects look at. Chains of connections are not judged here, but by webpki.
//!
//! Certificates and signing requests in objects, as Go reads them: blocks of PEM (`pem.rs`), DER (`der.rs`, which tls
//! uses for the few parts that webpki does not give), keys, and the signatures that prove their possession
//! (`signature.rs`); `curve.rs` and `rsa.rs` verify the ones that ring does not. It validates no chains.

// Objects may have any content.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod certificate;
mod curve;
pub mod der;
mod extension;
mod key;
mod name;
mod oid;
pub mod pem;
mod request;
mod rsa;
mod signature;

pub use certificate::Certificate;
pub use curve::Curve;
pub use der::Malformed;
pub use key::PublicKey;
pub use request::Request;
