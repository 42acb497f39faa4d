//! An expression after parsing, with macros already expanded.

use smol_str::SmolStr;

/// A node. `id` numbers the nodes of one expression from zero.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub id: usize,
    /// Where it stands, in characters.
    pub at: usize,
    /// How deep the nodes below go.
    pub depth: usize,
    pub kind: Kind,
}

/// What a node is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Literal(Literal),
    Ident(SmolStr),
    /// `operand.field`; with `test` it is `has(operand.field)`.
    Select {
        operand: Box<Expr>,
        field: SmolStr,
        test: bool,
    },
    Call(Call),
    /// Items, each with whether it is optional.
    List(Vec<(Expr, bool)>),
    /// Keys and values, each with whether it is optional.
    Map(Vec<(Expr, Expr, bool)>),
    /// A message: only the types of patches can be made.
    Message(SmolStr, Vec<Member>),
    Fold(Box<Fold>),
    /// `optMap` and `optFlatMap`: the operand, the variable, and what becomes of the value.
    Opt {
        operand: Box<Expr>,
        name: SmolStr,
        body: Box<Expr>,
        flat: bool,
    },
    /// `cel.bind`: a name for a value, and what is made of it.
    Bind {
        name: SmolStr,
        value: Box<Expr>,
        body: Box<Expr>,
    },
    /// What could not be parsed.
    Bad,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Str(SmolStr),
    Bytes(Box<[u8]>),
}

/// A field of a message that is made.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub name: SmolStr,
    /// Where its colon stands.
    pub at: usize,
    pub optional: bool,
    pub value: Expr,
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// `_&&_`, `size`, `sets.contains`.
    pub name: SmolStr,
    pub target: Option<Box<Expr>>,
    pub args: Vec<Expr>,
}

/// A comprehension. The accumulator of cel-go's general form is implied by `step`.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub range: Expr,
    pub name: SmolStr,
    /// The second variable, of values.
    pub second: Option<SmolStr>,
    pub filter: Option<Expr>,
    /// The predicate or the transformation; none for `filter`, which gives the item itself.
    pub body: Option<Expr>,
    pub step: Step,
}

/// What a comprehension gathers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    All,
    Exists,
    ExistsOne,
    /// A list of results.
    List,
    /// A map of first variable to result.
    Map,
    /// A map of the entries of results.
    Entries,
}

impl Expr {
    /// The dotted name that selections of identifiers spell.
    pub fn qualified(&self) -> Option<String> {
        match &self.kind {
            Kind::Ident(name) => Some(name.to_string()),
            Kind::Select { operand, field, test: false } => Some(format!("{}.{field}", operand.qualified()?)),
            _ => None,
        }
    }
}
