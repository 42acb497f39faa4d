//! Values as JSON: the results of policies.

use base64::Engine as _;
use hydrofoil_types::{Map, Value, go};

use super::{Fail, Message, Val, time};

impl Val<'_> {
    /// Return the result of an expression of a policy as JSON, or why it cannot be used.
    pub fn result(&self) -> Result<Value, Fail> {
        let wrong = |why: Fail| match why {
            Fail::Error(why) => Fail::new(format!("type mismatch: {why}")),
            other => other,
        };
        match self {
            Self::Message(message) => message.check_names().map_err(wrong)?,
            Self::List(list) => {
                for item in list.iter() {
                    if let Self::Message(patch) = item?
                        && let Some(Self::Message(value)) = patch.field("value")
                    {
                        Message::check_names(value).map_err(wrong)?;
                    }
                }
            }
            _ => {}
        }
        self.json()
    }

    /// Return the value as JSON.
    pub fn json(&self) -> Result<Value, Fail> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(b) => Value::Bool(*b),
            Self::Int(n) => Value::Int(*n),
            Self::Uint(n) => i64::try_from(*n).map_or(Value::Float((*n).into()), Value::Int),
            Self::Double(f) => Value::float(*f).ok_or_else(|| Fail::new(go::unsupported_number(*f)))?,
            Self::Str(text) => Value::str(&**text),
            Self::Bytes(bytes) => Value::str(base64::engine::general_purpose::STANDARD.encode(bytes)),
            Self::Duration(nanos) => Value::str(time::duration_text(*nanos)),
            Self::Time(moment) => Value::str(time::moment_text(*moment)),
            Self::List(list) => Value::Array(list.iter().map(|item| item?.json()).collect::<Result<_, _>>()?),
            Self::Message(message) => message.json()?,
            Self::Map(table) => {
                let mut map = Map::new();
                for key in table.keys() {
                    let (Self::Str(_) | Self::Int(_) | Self::Uint(_) | Self::Bool(_), Some(found)) =
                        (&key, table.get(&key))
                    else {
                        return Err(unsupported_value(&key));
                    };
                    map.push(key.error_text(), found?.json()?);
                }
                Value::Object(map)
            }
            other => return Err(unsupported_value(other)),
        })
    }
}

fn unsupported_value(value: &Val<'_>) -> Fail {
    Fail::new(format!("unsupported conversion from {} to JSON", value.kind()))
}
