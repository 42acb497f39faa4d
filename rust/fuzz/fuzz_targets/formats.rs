//! Formats, amounts and times: no text makes a reader panic.
#![no_main]

use hydrofoil_schema::custom::StringFormat;
use hydrofoil_types::{Quantity, Timestamp, notation};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 26] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "k8sshortname",
    "k8slongname",
];

fuzz_target!(|text: &str| {
    for name in NAMES {
        StringFormat::parse(name).expect("the format is known").allows(text);
    }
    if let Ok(amount) = Quantity::parse(text) {
        assert!(Quantity::parse(&amount.to_string()).is_ok());
        let _ = (amount.milli(), amount.value());
    }
    if let Some(time) = Timestamp::parse(text) {
        assert!(Timestamp::parse(&time.rfc3339_micro()).is_some());
    }
    let _ = notation::parse(text);
});
