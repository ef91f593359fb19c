//! What a C++ name says, as a tree: children come before their parents.

use super::operators::Operator;

/// A node of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(usize);

/// Some nodes, in order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct List {
    start: usize,
    len: usize,
}

/// `const`, `&` and what else stands after a type or a method's parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Qualifiers {
    pub(super) is_const: bool,
    pub(super) is_volatile: bool,
    pub(super) is_restrict: bool,
    /// `&` or `&&`, of methods.
    pub(super) reference: Option<Reference>,
}

impl Qualifiers {
    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Those that were not said before.
    pub(super) fn without(self, said: Self) -> Self {
        Self {
            is_const: self.is_const && !said.is_const,
            is_volatile: self.is_volatile && !said.is_volatile,
            is_restrict: self.is_restrict && !said.is_restrict,
            reference: self.reference,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    Lvalue,
    Rvalue,
}

impl Reference {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Lvalue => "&",
            Self::Rvalue => "&&",
        }
    }
}

/// Abbreviated by the ABI.
#[derive(Debug)]
pub(super) struct Abbreviation {
    pub(super) code: u8,
    pub(super) short: &'static str,
    /// What constructors are shown in.
    pub(super) full: &'static str,
    /// What constructors are called.
    pub(super) last: &'static str,
}

/// A type of the language.
#[derive(Debug)]
pub(super) struct Builtin {
    pub(super) name: &'static str,
    /// Of a literal of the type: `3ul`. `None` has the type in front.
    pub(super) suffix: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Node<'a> {
    // Names.
    Name(&'a str),
    Abbreviation {
        of: &'static Abbreviation,
        is_full: bool,
    },
    Qualified(Id, Id),
    /// Inside a function, or in what a default argument of it says.
    Local {
        function: Id,
        argument: Option<usize>,
        name: Id,
    },
    Template(Id, List),
    Tagged(Id, &'a str),
    /// Of a class of that name.
    Constructor(Id),
    Destructor(Id),
    Operator(&'static Operator),
    VendorOperator(&'a str),
    LiteralOperator(&'a str),
    ConversionOperator(Id),
    Lambda {
        head: List,
        params: List,
        number: usize,
    },
    Unnamed(usize),
    Binding(List),
    /// The name of a method, with what is said of `this`.
    Method(Id, Qualifiers),
    /// A function with its [`Node::Function`].
    Typed(Id, Id),
    // What compilers make.
    Special(&'static str, Id),
    ConstructionTable {
        base: Id,
        of: Id,
    },
    Temporary(Id, usize),
    // Types.
    Builtin(&'static Builtin),
    Pointer(Id),
    Reference(Id, Reference),
    /// `const`, `volatile` or `restrict`.
    Const(Id, Qualifiers),
    /// ` _Complex` and the like.
    Suffixed(Id, &'static str),
    Vendor(Id, Id),
    Member {
        class: Id,
        of: Id,
    },
    Array(Id, Option<Id>),
    Vector(Id, Id),
    Function {
        returned: Option<Id>,
        params: List,
        qualifiers: Qualifiers,
        exceptions: Exceptions,
    },
    Decltype(Id),
    /// A parameter of the template, counted from 0.
    Param(usize),
    Pack(List),
    Expansion(Id),
    Head(Head),
    // Expressions.
    Literal(Id, &'a str),
    FunctionParam(usize),
    Nullary(&'static Operator),
    Unary(&'static Operator, Id),
    Postfix(&'static Operator, Id),
    Binary(&'static Operator, Id, Id),
    Conditional(Id, Id, Id),
    Call(Id, List),
    /// `static_cast<T>(x)`.
    NamedCast(&'static Operator, Id, Id),
    Cast(Id, Id),
    CastList(Id, List),
    Braces(Option<Id>, List),
    New {
        operator: &'static Operator,
        placement: List,
        of: Id,
        arguments: Option<List>,
    },
    Fold {
        operator: &'static Operator,
        kind: u8,
        first: Id,
        second: Option<Id>,
    },
    PackLength(Id),
    ListLength(List),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Exceptions {
    Any,
    None,
    If(Id),
    Only(List),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Head {
    Type,
    Value(Id),
    Template(List),
    Pack(Id),
}

#[derive(Debug, Default)]
pub(super) struct Tree<'a> {
    nodes: Vec<Node<'a>>,
    items: Vec<Id>,
}

impl<'a> Tree<'a> {
    pub(super) fn add(&mut self, node: Node<'a>) -> Id {
        self.nodes.push(node);
        Id(self.nodes.len() - 1)
    }

    pub(super) fn node(&self, id: Id) -> Node<'a> {
        // Ids are made by `add` alone.
        self.nodes.get(id.0).copied().unwrap_or(Node::Name(""))
    }

    pub(super) fn list(&mut self, ids: &[Id]) -> List {
        let start = self.items.len();
        self.items.extend_from_slice(ids);
        List {
            start,
            len: ids.len(),
        }
    }

    pub(super) fn items(&self, list: List) -> &[Id] {
        let items = self.items.get(list.start..);
        items
            .and_then(|items| items.get(..list.len))
            .unwrap_or_default()
    }

    /// What a pattern consists of, as far as packs are looked for in it.
    pub(super) fn children(&self, id: Id) -> impl Iterator<Item = Id> + use<'_, 'a> {
        let none = List::default();
        let (few, list) = match self.node(id) {
            Node::Qualified(a, b)
            | Node::Vendor(a, b)
            | Node::Vector(a, b)
            | Node::NamedCast(_, a, b)
            | Node::Cast(a, b)
            | Node::Binary(_, a, b)
            | Node::Typed(a, b)
            | Node::Member { class: a, of: b } => ([Some(a), Some(b), None], none),
            Node::Array(a, b) => ([Some(a), b, None], none),
            Node::Conditional(a, b, c) => ([Some(a), Some(b), Some(c)], none),
            Node::Local {
                function: a,
                name: b,
                ..
            } => ([Some(a), Some(b), None], none),
            Node::Template(a, list) | Node::Call(a, list) | Node::CastList(a, list) => {
                ([Some(a), None, None], list)
            }
            Node::Function {
                returned, params, ..
            } => ([returned, None, None], params),
            Node::Braces(a, list) => ([a, None, None], list),
            Node::New { of, placement, .. } => ([Some(of), None, None], placement),
            Node::Fold { first, second, .. } => ([Some(first), second, None], none),
            Node::Pack(list) | Node::ListLength(list) => ([None; 3], list),
            Node::Pointer(a)
            | Node::Reference(a, _)
            | Node::Const(a, _)
            | Node::Suffixed(a, _)
            | Node::Decltype(a)
            | Node::ConversionOperator(a)
            | Node::Method(a, _)
            | Node::Literal(a, _)
            | Node::PackLength(a)
            | Node::Unary(_, a)
            | Node::Postfix(_, a) => ([Some(a), None, None], none),
            _ => ([None; 3], none),
        };
        let list = self.items(list).iter().copied();
        few.into_iter().flatten().chain(list)
    }

    /// What a class is called inside itself.
    pub(super) fn last_of(&self, mut id: Id) -> Id {
        while let Node::Qualified(_, last)
        | Node::Template(last, _)
        | Node::Method(last, _)
        | Node::Local { name: last, .. }
        | Node::Tagged(last, _) = self.node(id)
        {
            id = last;
        }
        id
    }

    /// The arguments of the template that a function is made of.
    pub(super) fn template_of(&self, mut id: Id) -> Option<(Id, List)> {
        loop {
            match self.node(id) {
                Node::Method(name, _) | Node::Local { name, .. } => id = name,
                Node::Template(name, arguments) => return Some((name, arguments)),
                _ => return None,
            }
        }
    }
}
