//! Functions by name. Each looks at its arguments itself, so that values of type `dyn` find their overload.

use crate::value::{Fail, Out, Val};
use crate::{convert, format, lists, net, operators, quantity, semver, text, url};

/// A function: arguments, the receiver first, to a value.
pub(crate) type Native = for<'a, 'v> fn(&'v [Val<'a>]) -> Out<'a>;

/// The function of a name.
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
}

/// No overload of a function takes these arguments.
pub(crate) fn no_overload<'a>(name: &str, args: &[Val<'_>]) -> Out<'a> {
    let kinds: Vec<&str> = args.iter().map(Val::kind).collect();
    Err(Fail::new(format!("no such overload: {name}({})", kinds.join(", "))))
}
