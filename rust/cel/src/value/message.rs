//! Objects that the expression of a patch makes (apiserver `pkg/cel/mutation/dynamic`).

use hydrofoil_types::{Map, Value};
use smol_str::SmolStr;

use super::{Fail, Val};

/// A new object: its type and its fields.
#[derive(Clone, Debug)]
pub(crate) struct Message<'a> {
    pub name: SmolStr,
    pub fields: Vec<(SmolStr, Val<'a>)>,
}

impl<'a> Message<'a> {
    /// Return a field.
    pub fn field(&self, name: &str) -> Option<&Val<'a>> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// Return it as JSON.
    pub fn json(&self) -> Result<Value, Fail> {
        let mut map = Map::new();
        for (name, value) in &self.fields {
            map.push(name.clone(), value.json()?);
        }
        Ok(Value::Object(map))
    }

    /// Check that the type of each object is the path of fields that leads to it.
    pub fn check_names(&self) -> Result<(), Fail> {
        check_name(&Val::Message(std::rc::Rc::new(self.clone())), &self.name)
    }
}

fn check_name(value: &Val<'_>, path: &str) -> Result<(), Fail> {
    match value {
        Val::Message(message) if message.name != path => {
            let text = format!("unexpected type name \"{}\", expected \"{path}\"", message.name);
            Err(Fail::new(format!("{text}, which matches field name path from root Object type")))
        }
        Val::Message(message) => {
            message.fields.iter().try_for_each(|(name, value)| check_name(value, &format!("{path}.{name}")))
        }
        Val::List(list) => list.iter().try_for_each(|item| check_name(&item?, path)),
        Val::Map(map) => map.keys().iter().filter_map(|key| map.get(key)).try_for_each(|item| check_name(&item?, path)),
        _ => Ok(()),
    }
}
