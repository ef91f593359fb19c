//! Parameters by their names: where a function has them when it is called, by its DWARF, in the kernel's words.
//!
//! Optimized code says in which register each parameter is. Code that is not optimized says only where the function
//! will store it: then the calling convention tells, as long as all parameters before it leave no doubt.
//!
//! Source: System V Application Binary Interface, AMD64 Architecture Processor Supplement, 3.2.3; DWARF 5, 3.3.

use crate::error::ProbeError;
use crate::function_dwarf::{FunctionDwarf, Parameter, Stored};
use crate::value::{Class, Value};
use rprof_base::Svma;
use rprof_images::Elf;

/// Registers of x86-64 by their DWARF numbers, as the kernel calls them.
const REGISTERS: [&str; 16] = [
    "ax", "dx", "cx", "bx", "si", "di", "bp", "sp", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15",
];

/// Those that integers and pointers are passed in, in this order.
const PASSED_IN: [&str; 6] = ["di", "si", "dx", "cx", "r8", "r9"];

/// Bytes of the return address, below what is passed on the stack.
const RETURN_ADDRESS: i64 = 8;

/// A parameter that is asked for: `len`, `text:string`, `n=len:u64`.
struct Wanted<'a> {
    /// What the value is called.
    label: &'a str,
    parameter: &'a str,
    kind: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    fn parse(text: &'a str) -> Self {
        let (label, value) = match text.split_once('=') {
            Some((label, value)) => (Some(label), value),
            None => (None, text),
        };
        let (parameter, kind) = match value.split_once(':') {
            Some((parameter, kind)) => (parameter, Some(kind)),
            None => (value, None),
        };
        Self {
            label: label.unwrap_or(parameter),
            parameter,
            kind,
        }
    }
}

/// The arguments of a probe where a function starts, in the kernel's words: names of parameters become registers or
/// places on the stack.
///
/// # Errors
/// No such parameter, or none that can be read there.
pub(super) fn place_arguments(
    elf: &Elf,
    name: &str,
    address: Svma,
    arguments: &[String],
) -> Result<Vec<String>, ProbeError> {
    let no_dwarf = || ProbeError::NoParameters {
        function: name.to_owned(),
        path: elf.path().to_owned(),
    };
    let dwarf = FunctionDwarf::read(elf, address).ok_or_else(no_dwarf)?;
    let placed = Placed::of(&dwarf);
    let words = arguments
        .iter()
        .map(|argument| placed.word(&Wanted::parse(argument), name));
    words.collect()
}

/// What the calling convention says of parameters beyond those in registers.
const ON_STACK: &str = "it is passed on the stack";

/// The kernel's word for a place above the return address, which the stack pointer points to.
fn above_return_address(offset: i64) -> Result<String, &'static str> {
    let offset = offset.checked_add(RETURN_ADDRESS);
    let offset = offset.ok_or("the compiler did not keep it there")?;
    Ok(format!("+{offset}(%sp)"))
}

/// Parameters, each with the kernel's word for its place or why there is none.
struct Placed<'d>(Vec<(&'d Parameter, Result<String, &'static str>)>);

impl<'d> Placed<'d> {
    fn of(function: &'d FunctionDwarf) -> Self {
        let mut passed = Convention::of(function);
        let parameters = function.parameters.iter().map(|parameter| {
            let by_convention = passed.next(parameter);
            let place = match parameter.stored {
                _ if !matches!(parameter.value.class, Class::Integer) => {
                    Err("it is neither an integer nor a pointer")
                }
                Stored::Register(number) => match REGISTERS.get(usize::from(number)) {
                    Some(register) => Ok(format!("%{register}")),
                    None => Err("it is in a register that probes cannot read"),
                },
                Stored::AboveFrame(offset) => match by_convention {
                    Err(ON_STACK) => above_return_address(offset),
                    // Some conventions have room there for what is in registers.
                    Ok(_) => Err("how the function is called is not certain"),
                    Err(why) => Err(why),
                },
                Stored::InFrame => by_convention.map(|register| format!("%{register}")),
                Stored::Nowhere => Err("the compiler did not keep it there"),
            };
            (parameter, place)
        });
        Self(parameters.collect())
    }

    fn word(&self, wanted: &Wanted<'_>, function: &str) -> Result<String, ProbeError> {
        let refused = |why: &'static str| ProbeError::Parameter {
            name: wanted.parameter.to_owned(),
            function: function.to_owned(),
            why,
            readable: self.readable(),
        };
        let found = self
            .0
            .iter()
            .find(|(parameter, _)| parameter.name == wanted.parameter);
        let (parameter, place) = found.ok_or_else(|| refused("no such parameter"))?;
        let place = place.as_ref().map_err(|&why| refused(why))?;
        let label = wanted.label;
        Ok(match wanted.kind {
            // The kernel wants the place of the text, not that of its address.
            Some(kind @ ("string" | "ustring")) => format!("{label}=+0({place}):{kind}"),
            Some(kind) => format!("{label}={place}:{kind}"),
            None => format!("{label}={place}:{}", kind_of(parameter.value)),
        })
    }

    /// The names of parameters that can be read.
    fn readable(&self) -> Vec<String> {
        let readable = self.0.iter().filter(|(_, place)| place.is_ok());
        readable
            .map(|(parameter, _)| parameter.name.clone())
            .collect()
    }
}

/// The kernel's type for an integer, boolean, enumeration or pointer.
fn kind_of(value: Value) -> String {
    let bits = 8 * value.size;
    match (value.is_pointer, value.is_signed) {
        (true, _) => format!("x{bits}"),
        (false, true) => format!("s{bits}"),
        (false, false) => format!("u{bits}"),
    }
}

/// Registers as they are taken by one parameter after the other.
enum Convention {
    /// This many are taken.
    Taken(usize),
    Unknown(&'static str),
}

impl Convention {
    fn of(function: &FunctionDwarf) -> Self {
        if !function.is_called_as_c {
            return Self::Unknown(
                "DWARF says where it is only after the function has begun, and its language may pass it anywhere",
            );
        }
        match function.returned.map(|value| (value.class, value.size)) {
            None | Some((Class::Integer | Class::Float, _)) => Self::Taken(0),
            // The caller says in the first register where the result is to be.
            Some((Class::Compound, 17..)) => Self::Taken(1),
            Some(_) => Self::Unknown(
                "DWARF says where it is only after the function has begun, and how the result is returned is not certain",
            ),
        }
    }

    /// The register of the next parameter, or why it is not known.
    fn next(&mut self, parameter: &Parameter) -> Result<&'static str, &'static str> {
        let taken = match self {
            Self::Taken(taken) => taken,
            Self::Unknown(why) => return Err(why),
        };
        match parameter.value.class {
            Class::Integer => {
                *taken += 1;
                let register = PASSED_IN.get(*taken - 1).copied();
                register.ok_or(ON_STACK)
            }
            Class::Float => Err("it is neither an integer nor a pointer"),
            Class::Compound | Class::Unknown => {
                *self = Self::Unknown(
                    "DWARF says where it is only after the function has begun, and how an earlier parameter is passed is not certain",
                );
                Err("it is neither an integer nor a pointer")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(class: Class, size: u64) -> Value {
        Value {
            class,
            size,
            is_signed: true,
            is_pointer: false,
        }
    }

    fn parameter(name: &str, class: Class, stored: Stored) -> Parameter {
        Parameter {
            name: name.to_owned(),
            value: value(class, 4),
            stored,
        }
    }

    fn function(returned: Option<Value>, parameters: Vec<Parameter>) -> FunctionDwarf {
        FunctionDwarf {
            is_called_as_c: true,
            returned,
            parameters,
        }
    }

    fn word(function: &FunctionDwarf, argument: &str) -> Result<String, String> {
        let word = Placed::of(function).word(&Wanted::parse(argument), "f");
        word.map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_stored_later_is_in_the_registers_of_the_calling_convention() {
        let parameters = || {
            vec![
                parameter("a", Class::Integer, Stored::InFrame),
                parameter("x", Class::Float, Stored::InFrame),
                parameter("b", Class::Integer, Stored::InFrame),
                parameter("pair", Class::Compound, Stored::InFrame),
                parameter("c", Class::Integer, Stored::InFrame),
                parameter("d", Class::Integer, Stored::AboveFrame(8)),
                parameter("e", Class::Integer, Stored::Register(8)),
            ]
        };
        let plain = function(None, parameters());
        for (argument, expected) in [
            ("a", "a=%di:s32"),
            ("b", "b=%si:s32"),
            ("n=b:u8", "n=%si:u8"),
            ("a:string", "a=+0(%di):string"),
            ("e", "e=%r8:s32"),
        ] {
            assert_eq!(word(&plain, argument).as_deref(), Ok(expected));
        }
        for (argument, why) in [
            ("x", "neither an integer nor a pointer"),
            ("d", "how an earlier parameter is passed is not certain"),
            ("pair", "neither an integer nor a pointer"),
            ("c", "how an earlier parameter is passed"),
            ("z", "no such parameter"),
        ] {
            let said = word(&plain, argument).unwrap_err();
            assert!(said.contains(why) && said.contains("a, b, e"), "{said}");
        }
        let large = function(Some(value(Class::Compound, 24)), parameters());
        assert_eq!(word(&large, "a").as_deref(), Ok("a=%si:s32"));
        // In C++ it depends on its constructors.
        let small = function(Some(value(Class::Compound, 16)), parameters());
        assert!(word(&small, "a").is_err());
        assert_eq!(word(&small, "e").as_deref(), Ok("e=%r8:s32"));
        let others = FunctionDwarf {
            is_called_as_c: false,
            ..plain
        };
        assert!(word(&others, "a").is_err());
        assert_eq!(word(&others, "e").as_deref(), Ok("e=%r8:s32"));
    }

    #[test]
    fn the_seventh_integer_is_on_the_stack() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let parameters = names.map(|name| parameter(name, Class::Integer, Stored::InFrame));
        let function = function(None, parameters.into());
        assert_eq!(word(&function, "f").as_deref(), Ok("f=%r9:s32"));
        assert!(word(&function, "g").unwrap_err().contains("on the stack"));
    }

    #[test]
    fn places_on_the_stack_count_for_parameters_beyond_the_registers_only() {
        let mut parameters: Vec<Parameter> = ["a", "b", "c", "d", "e", "f"]
            .map(|name| parameter(name, Class::Integer, Stored::InFrame))
            .into();
        parameters[1].stored = Stored::AboveFrame(8);
        for (name, offset) in [("g", 0), ("h", i64::MAX)] {
            parameters.push(parameter(name, Class::Integer, Stored::AboveFrame(offset)));
        }
        let function = function(None, parameters);
        assert_eq!(word(&function, "g").as_deref(), Ok("g=+8(%sp):s32"));
        assert!(word(&function, "b").unwrap_err().contains("is not certain"));
        assert!(word(&function, "h").unwrap_err().contains("did not keep"));
    }
}
