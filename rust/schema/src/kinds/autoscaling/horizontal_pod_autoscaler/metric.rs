//! Metrics of autoscalers as `autoscaling/v1` writes them into annotations (`pkg/apis/autoscaling/v1/conversion.go`).

use hydrofoil_types::{Map, Quantity, Value};

use hydrofoil_types::read::{Read, Write};

/// The form of a member in version 1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Reference,
    Selector,
    /// A required quantity.
    Amount,
    /// A pointer to a quantity.
    MaybeAmount,
    /// A pointer to an integer.
    Percent,
}

/// A member: its name in version 1, its path in version 2, its form.
type Member = (&'static str, &'static [&'static str], Form);
/// A source of a metric with its members in the order of version 1.
type Source = (&'static str, &'static [Member]);

/// The metrics of a spec.
pub(crate) const SPEC: [Source; 5] = [
    (
        "object",
        &[
            ("target", &["describedObject"], Form::Reference),
            ("metricName", &["metric", "name"], Form::Text),
            ("targetValue", &["target", "value"], Form::Amount),
            ("selector", &["metric", "selector"], Form::Selector),
            ("averageValue", &["target", "averageValue"], Form::MaybeAmount),
        ],
    ),
    (
        "pods",
        &[
            ("metricName", &["metric", "name"], Form::Text),
            ("targetAverageValue", &["target", "averageValue"], Form::Amount),
            ("selector", &["metric", "selector"], Form::Selector),
        ],
    ),
    (
        "resource",
        &[
            ("name", &["name"], Form::Text),
            ("targetAverageUtilization", &["target", "averageUtilization"], Form::Percent),
            ("targetAverageValue", &["target", "averageValue"], Form::MaybeAmount),
        ],
    ),
    (
        "containerResource",
        &[
            ("name", &["name"], Form::Text),
            ("targetAverageUtilization", &["target", "averageUtilization"], Form::Percent),
            ("targetAverageValue", &["target", "averageValue"], Form::MaybeAmount),
            ("container", &["container"], Form::Text),
        ],
    ),
    (
        "external",
        &[
            ("metricName", &["metric", "name"], Form::Text),
            ("metricSelector", &["metric", "selector"], Form::Selector),
            ("targetValue", &["target", "value"], Form::MaybeAmount),
            ("targetAverageValue", &["target", "averageValue"], Form::MaybeAmount),
        ],
    ),
];

/// The metrics of a status.
pub(crate) const STATUS: [Source; 5] = [
    (
        "object",
        &[
            ("target", &["describedObject"], Form::Reference),
            ("metricName", &["metric", "name"], Form::Text),
            ("currentValue", &["current", "value"], Form::Amount),
            ("selector", &["metric", "selector"], Form::Selector),
            ("averageValue", &["current", "averageValue"], Form::MaybeAmount),
        ],
    ),
    (
        "pods",
        &[
            ("metricName", &["metric", "name"], Form::Text),
            ("currentAverageValue", &["current", "averageValue"], Form::Amount),
            ("selector", &["metric", "selector"], Form::Selector),
        ],
    ),
    (
        "resource",
        &[
            ("name", &["name"], Form::Text),
            ("currentAverageUtilization", &["current", "averageUtilization"], Form::Percent),
            ("currentAverageValue", &["current", "averageValue"], Form::Amount),
        ],
    ),
    (
        "containerResource",
        &[
            ("name", &["name"], Form::Text),
            ("currentAverageUtilization", &["current", "averageUtilization"], Form::Percent),
            ("currentAverageValue", &["current", "averageValue"], Form::Amount),
            ("container", &["container"], Form::Text),
        ],
    ),
    (
        "external",
        &[
            ("metricName", &["metric", "name"], Form::Text),
            ("metricSelector", &["metric", "selector"], Form::Selector),
            ("currentValue", &["current", "value"], Form::Amount),
            ("currentAverageValue", &["current", "averageValue"], Form::MaybeAmount),
        ],
    ),
];

/// Return a metric of version 2 as version 1 writes it.
pub(super) fn down(sources: &[Source], metric: &Value) -> Value {
    let mut out = Map::new();
    out.push("type", metric.text("type"));
    for (name, members) in sources {
        let Some(source) = metric.opt(name) else { continue };
        let mut written = Map::new();
        for (old, new, form) in *members {
            let value = source.at(new).filter(|v| !matches!(v, Value::Null));
            match (form, value) {
                (Form::Text, value) => written.push(*old, value.and_then(Value::as_str).unwrap_or("")),
                (Form::Reference, value) => written.push(*old, reference(value.unwrap_or(&Value::Null))),
                (Form::Amount, None) => written.push(*old, "0"),
                (Form::Selector, Some(value)) => written.push(*old, selector(value)),
                (_, Some(value)) => written.push(*old, value.clone()),
                (_, None) => {}
            }
        }
        out.push(*name, written);
    }
    Value::Object(out)
}

/// Return a metric that version 1 wrote; `None` when Go could not read it.
pub(super) fn up(sources: &[Source], metric: &Value) -> Option<Value> {
    let mut out = Value::object();
    fill(&mut out, "type", text(field(metric, "type")?)?);
    for (name, members) in sources {
        let source = field(metric, name)?;
        if *source == Value::Null {
            continue;
        }
        source.as_object()?;
        let mut made = Value::object();
        for (old, new, form) in *members {
            let value = field(source, old)?;
            let read = match form {
                Form::Text => text(value)?,
                Form::Reference => Some(reference_of(value)?),
                Form::Selector => selector_of(value)?,
                Form::Amount => Some(amount(value)?.unwrap_or_else(|| Value::from("0"))),
                Form::MaybeAmount => amount(value)?,
                Form::Percent => number(value)?,
            };
            let (last, parents) = new.split_last()?;
            if let Some(read) = read {
                made.object_at_mut(parents).set(*last, read);
            }
        }
        if made.opt("target").is_some() || sources == SPEC {
            set_type(name, made.make("target"));
        }
        out.put(name, made);
    }
    Some(out)
}

/// Set the type of a metric's target by the values that it has.
fn set_type(source: &str, target: &mut Value) {
    let (value, average, percent) = (target.has("value"), target.has("averageValue"), target.has("averageUtilization"));
    let kind = match source {
        "object" if !average => "Value",
        "object" => {
            // Version 1 cannot leave the value out.
            if target.text("value") == "0" {
                target.drop("value");
            }
            "AverageValue"
        }
        "external" if value => "Value",
        "resource" | "containerResource" if percent => "Utilization",
        _ => "AverageValue",
    };
    target.put("type", kind);
}

/// Return a member by name, ignoring case as Go does; null when absent, `None` for a value that is not an object.
pub(super) fn field<'a>(of: &'a Value, name: &str) -> Option<&'a Value> {
    static NULL: Value = Value::Null;
    if *of == Value::Null {
        return Some(&NULL);
    }
    let map = of.as_object()?;
    let found = map.iter().rfind(|(key, _)| key.eq_ignore_ascii_case(name));
    Some(found.map_or(&NULL, |(_, value)| value))
}

/// Return a text, none when it is empty.
#[allow(clippy::option_option, reason = "the outer tells what cannot be read")]
pub(super) fn text(value: &Value) -> Option<Option<Value>> {
    match value {
        Value::Null => Some(None),
        Value::Str(text) => Some((!text.is_empty()).then(|| value.clone())),
        _ => None,
    }
}

/// Return a 32-bit integer.
#[allow(clippy::option_option, reason = "the outer tells what cannot be read")]
pub(super) fn number(value: &Value) -> Option<Option<Value>> {
    match value {
        Value::Null => Some(None),
        Value::Int(n) if i32::try_from(*n).is_ok() => Some(Some(value.clone())),
        _ => None,
    }
}

/// Return a quantity in its canonical form, from a text or a number.
#[allow(clippy::option_option, reason = "the outer tells what cannot be read")]
pub(super) fn amount(value: &Value) -> Option<Option<Value>> {
    let given = match value {
        Value::Null => return Some(None),
        Value::Str(text) => text.to_string(),
        Value::Int(_) | Value::Float(_) => value.to_json(),
        _ => return None,
    };
    Some(Some(Value::Str(Quantity::canonical_text(given.trim()).ok()?)))
}

/// Set a field that has a value.
pub(super) fn fill(out: &mut Value, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        out.put(key, value);
    }
}

fn reference(given: &Value) -> Value {
    let mut out = Map::new();
    out.push("kind", given.text("kind"));
    out.push("name", given.text("name"));
    if !given.zero("apiVersion") {
        out.push("apiVersion", given.text("apiVersion"));
    }
    Value::Object(out)
}

fn reference_of(given: &Value) -> Option<Value> {
    let mut out = Value::object();
    for key in ["kind", "name", "apiVersion"] {
        fill(&mut out, key, text(field(given, key)?)?);
    }
    Some(out)
}

fn selector(given: &Value) -> Value {
    let mut out = Map::new();
    if !given.zero("matchLabels") {
        let mut labels = given.field("matchLabels").clone();
        labels.sort_members();
        out.push("matchLabels", labels);
    }
    let terms = given.list("matchExpressions").iter().map(|term| {
        let mut out = Map::new();
        out.push("key", term.text("key"));
        out.push("operator", term.text("operator"));
        if !term.zero("values") {
            out.push("values", term.list("values").to_vec());
        }
        Value::Object(out)
    });
    let terms: Vec<_> = terms.collect();
    if !terms.is_empty() {
        out.push("matchExpressions", terms);
    }
    Value::Object(out)
}

#[allow(clippy::option_option, reason = "the outer tells what cannot be read")]
fn selector_of(given: &Value) -> Option<Option<Value>> {
    if *given == Value::Null {
        return Some(None);
    }
    let mut out = Value::object();
    let labels = field(given, "matchLabels")?;
    if *labels != Value::Null {
        let map = labels.as_object()?;
        map.iter().all(|(_, v)| matches!(v, Value::Str(_) | Value::Null)).then_some(())?;
        if !map.is_empty() {
            out.put("matchLabels", labels.clone());
        }
    }
    let mut terms = Vec::new();
    for term in items(field(given, "matchExpressions")?)? {
        let mut made = Value::object();
        fill(&mut made, "key", text(field(term, "key")?)?);
        fill(&mut made, "operator", text(field(term, "operator")?)?);
        let values = items(field(term, "values")?)?;
        values.iter().all(|v| matches!(v, Value::Str(_))).then_some(())?;
        if !values.is_empty() {
            made.put("values", values.to_vec());
        }
        terms.push(made);
    }
    if !terms.is_empty() {
        out.put("matchExpressions", terms);
    }
    Some(Some(out))
}

/// Return the items of a list or of null.
pub(super) fn items(value: &Value) -> Option<&[Value]> {
    if *value == Value::Null { Some(&[]) } else { value.as_array() }
}
