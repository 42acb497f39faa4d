//! The members of the internal types, as `tools/catalog` found them.

use std::collections::HashMap;
use std::sync::LazyLock;

use hydrofoil_types::Value;

use hydrofoil_types::read::Read;

/// One line a type: its name, then `Shown/json/shape` for each member.
const DATA: &str = include_str!("../data/internal_types.txt");

/// One member of an internal type.
pub(super) struct Member {
    /// Its name in Go; `+` for an embedded struct whose members are among those of its owner.
    pub(super) shown: &'static str,
    /// Its JSON name in the versioned type; with `^` it is a member of the owner's owner, `.` is the owner itself.
    json: &'static str,
    /// Whether a zero value is left out.
    pub(super) omitempty: bool,
    /// Its type: `s i f b` scalars, `q` quantity, `u` integer or text, `d` duration, `t` time, `y` bytes, `a` any;
    /// `*` a pointer, `[]` a list, `{}` a map, else the name of a type.
    pub(super) shape: &'static str,
}

impl Member {
    /// Return the value of the member, given a struct and the owner of that struct.
    pub(super) fn of<'a>(&self, value: &'a Value, owner: &'a Value) -> Option<&'a Value> {
        match self.json.strip_prefix('^') {
            Some(json) => owner.opt(json),
            None if self.json == "." => Some(value),
            None => value.opt(self.json),
        }
    }
}

static TYPES: LazyLock<HashMap<&'static str, Vec<Member>>> = LazyLock::new(|| {
    DATA.lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.filter_map(member).collect()))
        })
        .collect()
});

fn member(word: &'static str) -> Option<Member> {
    let (shown, rest) = word.split_once('/')?;
    let (json, shape) = rest.split_once('/')?;
    let bare = shape.strip_prefix('?');
    Some(Member { shown, json, omitempty: bare.is_some(), shape: bare.unwrap_or(shape) })
}

/// Return the members of a type in Go's order; none of an unknown one.
pub(super) fn members(name: &str) -> &'static [Member] {
    TYPES.get(name).map_or(&[], Vec::as_slice)
}
