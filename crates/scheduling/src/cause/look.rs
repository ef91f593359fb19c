//! How causes look wherever they are drawn: flame graphs, lanes of threads, pages and terminals.

use super::Cause;

impl Cause {
    /// The one with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.name() == name)
    }

    /// Its colour: red, green, blue. Waits are blue and violet, each with its own; a wait for a CPU is yellow. All are
    /// light enough for black letters, and of the 6 x 6 x 6 colours that terminals have.
    pub const fn color(self) -> [u8; 3] {
        match self {
            Self::Running => [0x87, 0xd7, 0x87],
            Self::Runnable => [0xff, 0xd7, 0x5f],
            Self::Futex => [0x5f, 0xaf, 0xff],
            Self::Pipe => [0x87, 0x87, 0xff],
            Self::Socket => [0xaf, 0x87, 0xff],
            Self::Epoll => [0x5f, 0xd7, 0xff],
            Self::Poll => [0x87, 0xff, 0xff],
            Self::Select => [0xaf, 0xff, 0xff],
            Self::Eventfd => [0xaf, 0xd7, 0xff],
            Self::IoUring => [0xd7, 0xaf, 0xff],
            Self::Tty => [0xd7, 0xd7, 0xff],
            Self::FileIo => [0xd7, 0x87, 0xff],
            Self::PageFault => [0xff, 0x87, 0xff],
            Self::Sleep => [0xaf, 0xaf, 0xd7],
            Self::Child => [0x5f, 0xd7, 0xd7],
            Self::Signal => [0xff, 0xaf, 0xff],
            Self::Stop => [0xaf, 0x87, 0xaf],
            Self::KernelLock => [0xd7, 0x5f, 0xff],
            Self::Unknown => [0xaf, 0xaf, 0xaf],
        }
    }

    /// The letter that stands for it where there is room for no more.
    pub const fn letter(self) -> char {
        match self {
            Self::Running => '#',
            Self::Runnable => 'r',
            Self::Futex => 'f',
            Self::Pipe => 'p',
            Self::Socket => 's',
            Self::Epoll => 'e',
            Self::Poll => 'o',
            Self::Select => 'l',
            Self::Eventfd => 'v',
            Self::IoUring => 'u',
            Self::Tty => 't',
            Self::FileIo => 'i',
            Self::PageFault => 'g',
            Self::Sleep => 'z',
            Self::Child => 'c',
            Self::Signal => 'n',
            Self::Stop => 'x',
            Self::KernelLock => 'k',
            Self::Unknown => '?',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Relative luminance (WCAG 2.2).
    fn luminance(color: [u8; 3]) -> f64 {
        let linear = color.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn causes_differ_in_color_and_letter() {
        let colors: BTreeSet<_> = Cause::ALL.map(Cause::color).into();
        let letters: BTreeSet<_> = Cause::ALL.map(Cause::letter).into();
        assert_eq!([colors.len(), letters.len()], [Cause::ALL.len(); 2]);
        for cause in Cause::ALL {
            assert_eq!(Cause::named(cause.name()), Some(cause));
        }
        assert_eq!(Cause::named("tea"), None);
    }

    #[test]
    fn names_are_readable_on_colors() {
        // The darkest ink of pages.
        let ink = [0x1c, 0x20, 0x26];
        for cause in Cause::ALL {
            let ratio = contrast(cause.color(), ink);
            assert!(ratio >= 4.5, "{}: {ratio}", cause.name());
        }
    }

    #[test]
    fn colors_are_those_of_terminals() {
        let steps = [0, 0x5f, 0x87, 0xaf, 0xd7, 0xff];
        for cause in Cause::ALL {
            assert!(cause.color().iter().all(|part| steps.contains(part)));
        }
    }
}
