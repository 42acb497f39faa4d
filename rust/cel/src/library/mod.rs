//! Functions by name. Each checks its arguments itself, so that values of type `dyn` find their overload.

mod authorization;
mod convert;
pub(crate) mod declarations;
mod format;
mod lists;
mod net;
mod operators;
mod patches;
pub(crate) mod printf;
mod quantity;
mod semver;
pub(crate) mod text;
mod url;

use crate::value::{Fail, Out, Val};

/// A function of the arguments, the receiver first.
pub(crate) type Native = for<'a, 'v> fn(&'v [Val<'a>]) -> Out<'a>;

/// Return the function of a name.
pub(crate) fn find(name: &str) -> Option<Native> {
    operators::find(name)
        .or_else(|| convert::find(name))
        .or_else(|| text::find(name))
        .or_else(|| lists::find(name))
        .or_else(|| net::find(name))
        .or_else(|| url::find(name))
        .or_else(|| quantity::find(name))
        .or_else(|| semver::find(name))
        .or_else(|| format::find(name))
        .or_else(|| authorization::find(name))
        .or_else(|| patches::find(name))
}

/// Return the error that no overload of a function accepts the arguments.
pub(crate) fn no_overload<'a>(name: &str, args: &[Val<'_>]) -> Out<'a> {
    let kinds: Vec<&str> = args.iter().map(Val::kind).collect();
    Err(Fail::new(format!("no such overload: {name}({})", kinds.join(", "))))
}
