//! Types and their assignability (cel-go `checker/types.go`, `common/types/types.go`).

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// The declared name of a device attribute.
pub(crate) const ATTRIBUTE: &str = "kubernetes.DRADevice.attribute";

use smol_str::SmolStr;

use crate::decl::Decl;

/// A type while an expression is checked.
#[derive(Clone, Debug)]
pub(crate) enum Type {
    Dyn,
    /// `google.protobuf.Any`: like `dyn`, but no range of a comprehension.
    Any,
    /// The type of a faulty node, so that it causes no further errors.
    Error,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    List(Rc<Type>),
    Map(Rc<Type>, Rc<Type>),
    Optional(Rc<Type>),
    /// A type of Kubernetes' libraries, as `net.IP`.
    Library(&'static str),
    /// An object with declared fields.
    Object(Arc<Decl>),
    /// An object whose fields no schema declares.
    Record(Rc<Record>),
    /// The type of types.
    Kind(Option<Rc<Type>>),
    /// A type parameter, free until it is bound.
    Param(u32),
}

/// The fields of an object.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub name: SmolStr,
    pub fields: Fields,
}

/// The declared fields of a record.
#[derive(Clone, Debug)]
pub(crate) enum Fields {
    /// Any name, each of type `dyn`.
    Any,
    /// A few fixed ones.
    Known(Vec<(SmolStr, Type)>),
    /// Those that a client declares, in any number.
    Given(HashMap<SmolStr, Type>),
}

impl Record {
    /// Return the type of a field.
    pub fn field(&self, name: &str) -> Option<Type> {
        match &self.fields {
            Fields::Any => Some(Type::Dyn),
            Fields::Known(fields) => fields.iter().find(|(n, _)| n == name).map(|(_, t)| t.clone()),
            Fields::Given(fields) => fields.get(name).cloned(),
        }
    }

    /// Return a patch type by its name (apiserver `pkg/cel/mutation/typeresolver.go`).
    pub fn of_patches(name: &str) -> Option<Self> {
        let fields = if name == "JSONPatch" {
            let text = |name: &str| (SmolStr::new(name), Type::String);
            Fields::Known(vec![text("op"), text("path"), text("from"), ("value".into(), Type::Dyn)])
        } else if name == "Object" || name.starts_with("Object.") {
            Fields::Any
        } else {
            return None;
        };
        Some(Self { name: name.into(), fields })
    }
}

impl Type {
    pub fn list(of: Self) -> Self {
        Self::List(Rc::new(of))
    }

    pub fn map(key: Self, value: Self) -> Self {
        Self::Map(Rc::new(key), Rc::new(value))
    }

    pub fn optional(of: Self) -> Self {
        Self::Optional(Rc::new(of))
    }

    /// Return the type of a declaration.
    pub fn of(decl: &Arc<Decl>) -> Self {
        use crate::decl::Shape;
        match &decl.shape {
            Shape::Dyn => Self::Dyn,
            Shape::Any => Self::Any,
            Shape::Bool => Self::Bool,
            Shape::Int => Self::Int,
            Shape::Double => Self::Double,
            Shape::Str => Self::String,
            Shape::Bytes => Self::Bytes,
            Shape::Duration => Self::Duration,
            Shape::Date | Shape::Time => Self::Timestamp,
            Shape::List(item, _) => Self::list(Self::of(item)),
            Shape::Map(value) => Self::map(Self::String, Self::of(value)),
            Shape::Object(_) => Self::Object(decl.clone()),
        }
    }

    pub fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any)
    }

    fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any | Self::Error)
    }

    /// Report whether all values have the same size.
    pub fn is_scalar(&self) -> bool {
        match self {
            Self::Bool | Self::Double | Self::Duration | Self::Int | Self::Timestamp | Self::Uint => true,
            Self::Optional(of) => of.is_scalar(),
            _ => false,
        }
    }

    fn nullable(&self) -> bool {
        matches!(
            self,
            Self::Null
                | Self::Optional(_)
                | Self::Library(_)
                | Self::Object(_)
                | Self::Record(_)
                | Self::Duration
                | Self::Timestamp
        )
    }

    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(a), Self::List(b))
            | (Self::Optional(a), Self::Optional(b))
            | (Self::Kind(Some(a)), Self::Kind(Some(b))) => a.same(b),
            (Self::Map(a, b), Self::Map(c, d)) => a.same(c) && b.same(d),
            (Self::Library(a), Self::Library(b)) => a == b,
            (Self::Object(a), Self::Object(b)) => Arc::ptr_eq(a, b) || a.name == b.name,
            (Self::Record(a), Self::Record(b)) => a.name == b.name,
            (Self::Param(a), Self::Param(b)) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    fn less_specific(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Dyn | Self::Any | Self::Param(_), _) | (Self::Kind(_), Self::Kind(_)) => true,
            (_, Self::Dyn | Self::Any | Self::Param(_)) => false,
            (Self::List(a), Self::List(b)) | (Self::Optional(a), Self::Optional(b)) => a.less_specific(b),
            (Self::Map(a, b), Self::Map(c, d)) => a.less_specific(c) && b.less_specific(d),
            _ => self.same(other),
        }
    }

    /// Return the more general of two compatible types.
    pub fn general(&self, other: &Self) -> Self {
        if self.less_specific(other) { self.clone() } else { other.clone() }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dyn => "dyn",
            Self::Any => "any",
            Self::Error => "!error!",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Duration => "duration",
            Self::Timestamp => "timestamp",
            Self::List(of) => return write!(f, "list({of})"),
            Self::Map(key, value) => return write!(f, "map({key}, {value})"),
            Self::Optional(of) => return write!(f, "optional_type({of})"),
            Self::Library(name) => name,
            Self::Object(decl) => &decl.name,
            Self::Record(record) => &record.name,
            Self::Kind(Some(of)) => return write!(f, "type({of})"),
            Self::Kind(None) => "type",
            Self::Param(n) => return write!(f, "_var{n}"),
        })
    }
}

/// The bindings of type parameters so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings(Vec<Option<Type>>);

impl Bindings {
    /// Return a free type parameter.
    pub fn fresh(&mut self) -> Type {
        self.0.push(None);
        Type::Param(self.0.len() as u32 - 1)
    }

    fn find(&self, param: u32) -> Option<&Type> {
        self.0.get(param as usize)?.as_ref()
    }

    fn bind(&mut self, param: u32, to: Type) {
        if let Some(slot) = self.0.get_mut(param as usize) {
            *slot = Some(to);
        }
    }

    /// Report whether each of `from` is assignable to its counterpart in `to`; if so, bind parameters as needed.
    pub fn all_assignable(&mut self, from: &[Type], to: &[Type]) -> bool {
        let before = self.clone();
        let fits = from.len() == to.len() && from.iter().zip(to).all(|(a, b)| self.fits(a, b));
        if !fits {
            *self = before;
        }
        fits
    }

    /// Report whether `a` is assignable to `b`.
    pub fn assignable(&mut self, a: &Type, b: &Type) -> bool {
        self.all_assignable(std::slice::from_ref(a), std::slice::from_ref(b))
    }

    fn fits(&mut self, a: &Type, b: &Type) -> bool {
        if let Type::Param(param) = b {
            match self.substitutes(a, *param) {
                (true, _) => return true,
                (false, true) => return false,
                (false, false) => {}
            }
        }
        if let Type::Param(param) = a {
            return self.substitutes(b, *param).0;
        }
        if a.is_dyn_or_error() || b.is_dyn_or_error() {
            return true;
        }
        match (a, b) {
            (Type::Null, other) | (other, Type::Null) => other.nullable(),
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => self.fits(a, b),
            (Type::Map(a, b), Type::Map(c, d)) => self.fits(a, c) && self.fits(b, d),
            (Type::Kind(_), Type::Kind(_)) => true,
            _ => a.same(b),
        }
    }

    /// Report whether a type can be substituted for a parameter, and whether the parameter is already bound.
    fn substitutes(&mut self, a: &Type, param: u32) -> (bool, bool) {
        if matches!(a, Type::Param(own) if *own == param) {
            return (true, true);
        }
        if let Some(bound) = self.find(param).cloned() {
            if a.same(&bound) {
                return (true, true);
            }
            if self.fits(a, &bound) {
                let general = a.general(&bound);
                if self.absent(param, &general) {
                    self.bind(param, general);
                }
                return (true, true);
            }
            return (false, true);
        }
        if self.absent(param, a) {
            self.bind(param, a.clone());
            return (true, false);
        }
        (false, false)
    }

    /// Report whether a parameter does not occur in a type.
    fn absent(&self, param: u32, within: &Type) -> bool {
        match within {
            Type::Param(own) => *own != param && self.find(*own).is_none_or(|bound| self.absent(param, bound)),
            Type::List(of) | Type::Optional(of) | Type::Kind(Some(of)) => self.absent(param, of),
            Type::Map(key, value) => self.absent(param, key) && self.absent(param, value),
            _ => true,
        }
    }

    /// Return the type with bound parameters replaced; free ones become `dyn` if requested.
    pub fn resolve(&self, t: &Type, free_is_dyn: bool) -> Type {
        match t {
            Type::Param(param) => match self.find(*param) {
                Some(bound) => self.resolve(bound, free_is_dyn),
                None if free_is_dyn => Type::Dyn,
                None => t.clone(),
            },
            Type::List(of) => Type::list(self.resolve(of, free_is_dyn)),
            Type::Optional(of) => Type::optional(self.resolve(of, free_is_dyn)),
            Type::Map(key, value) => Type::map(self.resolve(key, free_is_dyn), self.resolve(value, free_is_dyn)),
            Type::Kind(Some(of)) => Type::Kind(Some(Rc::new(self.resolve(of, free_is_dyn)))),
            _ => t.clone(),
        }
    }
}
