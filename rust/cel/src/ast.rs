//! The syntax tree of an expression, with macros expanded.

use smol_str::SmolStr;

/// A node. `id` numbers the nodes of an expression from zero.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub id: usize,
    /// The offset in characters.
    pub at: usize,
    /// The depth of the tree below.
    pub depth: usize,
    pub kind: Kind,
}

/// The kinds of nodes.
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
    /// The items, each with whether it is optional.
    List(Vec<(Expr, bool)>),
    /// Keys and values, each with whether it is optional.
    Map(Vec<(Expr, Expr, bool)>),
    /// A message: only the types of patches can be constructed.
    Message(SmolStr, Vec<Member>),
    Fold(Box<Fold>),
    /// `optMap` and `optFlatMap`: the operand, the variable, and the expression of it.
    Opt {
        operand: Box<Expr>,
        name: SmolStr,
        body: Box<Expr>,
        flat: bool,
    },
    /// `cel.bind`: a variable with its value, and the expression in its scope.
    Bind {
        name: SmolStr,
        value: Box<Expr>,
        body: Box<Expr>,
    },
    /// A syntax error.
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

/// A field of a message construction.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub name: SmolStr,
    /// The offset of its colon.
    pub at: usize,
    pub optional: bool,
    pub value: Expr,
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The function, as `_&&_`, `size`, `sets.contains`.
    pub name: SmolStr,
    pub target: Option<Box<Expr>>,
    pub args: Vec<Expr>,
}

/// A comprehension. The accumulator of cel-go's general form is implied by `step`.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub range: Expr,
    pub name: SmolStr,
    /// The second variable, for values.
    pub second: Option<SmolStr>,
    pub filter: Option<Expr>,
    /// The predicate or the transformation; `None` for `filter`, which keeps the item itself.
    pub body: Option<Expr>,
    pub step: Step,
}

/// The result that a comprehension accumulates.
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
    /// Return the dotted name if the node is a selection of identifiers.
    pub fn qualified_name(&self) -> Option<String> {
        match &self.kind {
            Kind::Ident(name) => Some(name.to_string()),
            Kind::Select { operand, field, test: false } => Some(format!("{}.{field}", operand.qualified_name()?)),
            _ => None,
        }
    }
}
