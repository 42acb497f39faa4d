//! Printer columns (apiextensions-apiserver `pkg/registry/customresource/tableconvertor`).

use std::borrow::Cow;

use hydrofoil_types::{MetaView, SmolStr, Timestamp, Value, go};

use hydrofoil_jsonpath::JsonPath;
use hydrofoil_rules::table::Row;
use hydrofoil_rules::table::age;
use hydrofoil_rules::table::column;
use hydrofoil_rules::table::default::{CREATED, NAME};
use hydrofoil_types::read::Read;

/// The columns of a version.
#[derive(Debug)]
pub struct Columns(Box<[Column]>);

#[derive(Debug)]
struct Column {
    path: JsonPath,
    name: SmolStr,
    kind: SmolStr,
    format: SmolStr,
    description: SmolStr,
    priority: i64,
}

impl Columns {
    /// Compile `additionalPrinterColumns`; the age when there are none. Columns are left out from the first invalid
    /// path on, as in upstream's table.
    pub(super) fn compile(columns: &[Value]) -> Self {
        if columns.is_empty() {
            let path = JsonPath::parse(".metadata.creationTimestamp");
            return Self(
                path.ok()
                    .map(|path| Column {
                        path,
                        name: SmolStr::new_static("Age"),
                        kind: SmolStr::new_static("date"),
                        format: SmolStr::default(),
                        description: SmolStr::new_static(CREATED),
                        priority: 0,
                    })
                    .into_iter()
                    .collect(),
            );
        }
        let compiled = columns.iter().map_while(|column| {
            let path = column.text("jsonPath");
            let described = column.text("description");
            let description = match described {
                "" => format!("Custom resource definition column (in JSONPath format): {path}").into(),
                text => SmolStr::new(text),
            };
            Some(Column {
                path: JsonPath::parse(path).ok()?,
                name: column.text("name").into(),
                kind: column.text("type").into(),
                format: column.text("format").into(),
                description,
                priority: column.int("priority"),
            })
        });
        Self(compiled.collect())
    }

    /// Return the column definitions of a table.
    pub fn definitions(&self) -> Vec<Value> {
        let mut out = vec![column("Name", "string", "name", NAME, 0)];
        out.extend(self.0.iter().map(|c| column(&c.name, &c.kind, &c.format, &c.description, c.priority)));
        out
    }

    /// Return the row of an object at some moment.
    pub fn row(&self, object: &Value, now: Timestamp) -> Row {
        let mut cells = vec![Value::from(MetaView::of(object).name())];
        let mut until = i64::MAX;
        cells.extend(self.0.iter().map(|c| c.cell(object, now, &mut until)));
        Row { cells, conditions: Vec::new(), until }
    }
}

impl Column {
    /// `cellForJSONValue`.
    fn cell(&self, object: &Value, now: Timestamp, until: &mut i64) -> Value {
        let Some(value) = self.path.first(object) else { return Value::Null };
        match (self.kind.as_str(), value.as_ref()) {
            ("string", value) => Value::from(print_value(value)),
            // Numbers of the path itself, and bytes of strings, are of types that upstream does not show.
            ("integer" | "number", Value::Int(_)) if matches!(value, Cow::Owned(_)) => Value::Null,
            ("integer", Value::Int(n)) => Value::Int(*n),
            ("integer", Value::Float(f)) => Value::Int(truncate(f.get())),
            ("number", Value::Int(n)) => Value::Float((*n).into()),
            ("number", Value::Float(f)) => Value::Float(*f),
            ("boolean", Value::Bool(b)) => Value::Bool(*b),
            ("date", Value::Str(text)) => Value::from(match (text.as_str(), Timestamp::parse(text)) {
                ("", _) => "<unknown>".to_owned(),
                (_, None) => "<invalid>".to_owned(),
                (text, Some(_)) => age::moment(text).map_or_else(
                    || "<unknown>".to_owned(),
                    |then| {
                        *until = age::until(then, now).min(*until);
                        age::between(then, now)
                    },
                ),
            }),
            _ => Value::Null,
        }
    }
}

/// Convert to an integer as Go does on amd64: numbers beyond its range are the least one.
fn truncate(f: f64) -> i64 {
    if (-(2_f64.powi(63))..2_f64.powi(63)).contains(&f) { f as i64 } else { i64::MIN }
}

/// Return a value as `jsonpath.PrintResults` prints it.
fn print_value(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".to_owned(),
        Value::Str(text) => text.to_string(),
        Value::Float(f) => go::float(f.get()),
        other => other.to_json(),
    }
}
