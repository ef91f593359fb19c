//! Names and what compilers make.

use super::super::fail::Fail;
use super::super::tree::{Head, Id, List, Node};
use super::{Printed, Printer};

/// Whether what a template declares has names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeadNames {
    Shown,
    Hidden,
}

/// Whether the type that a function returns is shown: not where its name is a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Returned {
    Shown,
    Hidden,
}

impl Printer<'_, '_> {
    /// A name, or nothing if it is none.
    pub(super) fn name(&mut self, node: Node<'_>) -> Printed {
        match node {
            Node::Name(name) => self.push(name),
            Node::Abbreviation { of, is_full } => {
                self.push(if is_full { of.full } else { of.short })
            }
            Node::Qualified(scope, name) => {
                self.show(scope)?;
                self.push("::")?;
                self.show(name)
            }
            Node::Local {
                function,
                argument,
                name,
            } => self.local(function, argument, name),
            Node::Template(name, arguments) => self.template(name, arguments),
            Node::Tagged(name, tag) => {
                self.show(name)?;
                self.push("[abi:")?;
                self.push(tag)?;
                self.push("]")
            }
            Node::Constructor(class) => self.class(class),
            Node::Destructor(class) => {
                self.push("~")?;
                self.class(class)
            }
            Node::Method(name, qualifiers) => {
                self.show(name)?;
                self.qualifiers(qualifiers)
            }
            Node::Special(text, of) => {
                self.push(text)?;
                self.show(of)
            }
            Node::ConstructionTable { base, of } => {
                self.between("construction vtable for ", base, "-in-")?;
                self.show(of)
            }
            Node::Temporary(name, number) => {
                self.push("reference temporary #")?;
                self.push_number(number)?;
                self.push(" for ")?;
                self.show(name)
            }
            _ => self.operator_or_unnamed(node),
        }
    }

    fn operator_or_unnamed(&mut self, node: Node<'_>) -> Printed {
        match node {
            Node::Operator(operator) => {
                self.push("operator")?;
                if operator
                    .text
                    .starts_with(|first: char| first.is_ascii_lowercase())
                {
                    self.push(" ")?;
                }
                self.push(operator.text.trim_end())
            }
            Node::VendorOperator(name) => {
                self.push("operator ")?;
                self.push(name)
            }
            Node::LiteralOperator(suffix) => {
                self.push("operator\"\" ")?;
                self.push(suffix)
            }
            Node::ConversionOperator(to) => {
                self.push("operator ")?;
                self.show(to)
            }
            Node::Lambda {
                head,
                params,
                number,
            } => self.lambda(head, params, number),
            Node::Unnamed(number) => {
                self.push("{unnamed type#")?;
                self.push_number(number.saturating_add(1))?;
                self.push("}")
            }
            Node::Binding(names) => self.list_between("[", names, "]"),
            _ => Err(Fail::NotMangled),
        }
    }

    /// A class as its constructors are called.
    fn class(&mut self, class: Id) -> Printed {
        match self.tree.node(class) {
            Node::Abbreviation { of, .. } => self.push(of.last),
            _ => self.show(class),
        }
    }

    fn template(&mut self, name: Id, arguments: List) -> Printed {
        self.show(name)?;
        // `operator< <int>`.
        if self.ends_with('<') {
            self.push(" ")?;
        }
        self.push("<")?;
        self.show_list(arguments)?;
        // Not after a comma that was taken back, as binutils have it.
        if self.ends_with('>') && self.trimmed != Some(self.len()) {
            self.push(" ")?;
        }
        self.push(">")
    }

    fn local(&mut self, function: Id, argument: Option<usize>, name: Id) -> Printed {
        match self.tree.node(function) {
            Node::Typed(name, of) => self.typed(name, of, Returned::Hidden)?,
            _ => self.show(function)?,
        }
        self.push("::")?;
        if let Some(number) = argument {
            self.push("{default arg#")?;
            self.push_number(number.saturating_add(1))?;
            self.push("}::")?;
        }
        self.show(name)
    }

    fn lambda(&mut self, head: List, params: List, number: usize) -> Printed {
        let around = self.lambda.replace(head);
        self.push("{lambda")?;
        if !self.tree.items(head).is_empty() {
            self.declared(head, HeadNames::Shown)?;
        }
        self.push("(")?;
        self.show_list(params)?;
        self.lambda = around;
        self.push(")#")?;
        self.push_number(number.saturating_add(1))?;
        self.push("}")
    }

    /// What a template declares, and how it is called from there on.
    fn declared(&mut self, heads: List, names: HeadNames) -> Printed {
        let tree = self.tree;
        self.push("<")?;
        for (idx, id) in tree.items(heads).iter().enumerate() {
            if idx > 0 {
                self.push(", ")?;
            }
            self.deeper(|printer| printer.head(*id))?;
            if names == HeadNames::Shown {
                self.push(" ")?;
                self.lambda_param(idx)?;
            }
        }
        self.push(">")
    }

    fn head(&mut self, id: Id) -> Printed {
        match self.tree.node(id) {
            Node::Head(Head::Type) => self.push("typename"),
            Node::Head(Head::Value(of)) => self.show(of),
            Node::Head(Head::Template(heads)) => {
                self.push("template")?;
                self.declared(heads, HeadNames::Hidden)?;
                self.push(" class")
            }
            Node::Head(Head::Pack(of)) => {
                self.deeper(|printer| printer.head(of))?;
                self.push("...")
            }
            _ => Err(Fail::NotMangled),
        }
    }

    /// A parameter of a lambda's template: most have none that is declared.
    pub(super) fn lambda_param(&mut self, number: usize) -> Printed {
        let heads = self.lambda.map(|heads| self.tree.items(heads));
        let declared = heads.and_then(|heads| heads.get(number).copied());
        let Some(mut head) = declared else {
            self.push("auto:")?;
            return self.push_number(number.saturating_add(1));
        };
        while let Node::Head(Head::Pack(of)) = self.tree.node(head) {
            head = of;
        }
        self.push(match self.tree.node(head) {
            Node::Head(Head::Value(_)) => "$N",
            Node::Head(Head::Template(_)) => "$TT",
            _ => "$T",
        })?;
        self.push_number(number)
    }

    /// A function with its parameters.
    pub(super) fn typed(&mut self, name: Id, function: Id, shown: Returned) -> Printed {
        let (name, qualifiers) = match self.tree.node(name) {
            Node::Method(name, qualifiers) => (name, Some(qualifiers)),
            _ => (name, None),
        };
        self.in_template(name, |printer| {
            let Node::Function {
                returned, params, ..
            } = printer.tree.node(function)
            else {
                return Err(Fail::NotMangled);
            };
            let returned = returned.filter(|_| shown == Returned::Shown);
            if let Some(returned) = returned {
                printer.returned(returned)?;
            }
            printer.show(name)?;
            printer.list_between("(", params, ")")?;
            if let Some(qualifiers) = qualifiers {
                printer.qualifiers(qualifiers)?;
            }
            match returned {
                Some(returned) => printer.right(returned),
                None => Ok(()),
            }
        })
    }
}
