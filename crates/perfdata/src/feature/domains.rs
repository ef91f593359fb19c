//! `CPU_DOMAIN_INFO`: scheduling domains, written by `perf sched stats`.

use super::section::SectionObject;
use super::text::take_owned;
use rprof_abi::{Cursor, Endian, Fields, Value, WireError};

/// The section.
///
/// Source: `write_cpu_domain_info()`, tools/perf/util/header.c (v6.19 and later).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuDomains {
    /// Version of `/proc/schedstat`.
    pub schedstat_version: u32,
    /// One more than the highest domain number.
    pub max_sched_domains: u32,
    /// The CPUs that are in domains.
    pub cpus: Vec<CpuDomainList>,
}

/// The domains of one CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuDomainList {
    /// The CPU.
    pub cpu: u32,
    /// Its domains.
    pub domains: Vec<SchedDomain>,
}

/// A scheduling domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedDomain {
    /// Its number.
    pub domain: u32,
    /// Its name, such as `MC`; schedstat has names since version 17.
    pub name: Option<Vec<u8>>,
    /// Its CPUs as a mask, hexadecimal.
    pub cpu_mask: Vec<u8>,
    /// Its CPUs as a list, such as `0-3`.
    pub cpu_list: Vec<u8>,
}

/// The first version of schedstat that names domains.
const HAS_NAMES: u32 = 17;

impl SectionObject for CpuDomains {
    /// Reads the section. It does not say how many CPUs follow; they go on to its end.
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(section, endian);
        let schedstat_version = cursor.u32("schedstat version")?;
        let max_sched_domains = cursor.u32("domain count")?;
        let mut cpus = Vec::new();
        while !cursor.rest().is_empty() {
            let cpu = cursor.u32("CPU of a domain")?;
            let n = cursor.u32("domain count")?;
            let domains = (0..n)
                .map(|_| SchedDomain::parse(&mut cursor, schedstat_version >= HAS_NAMES))
                .collect::<Result<_, WireError>>()?;
            cpus.push(CpuDomainList { cpu, domains });
        }
        Ok(Self {
            schedstat_version,
            max_sched_domains,
            cpus,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field(
            "schedstat_version",
            Value::Unsigned(self.schedstat_version.into()),
        );
        fields.field(
            "max_sched_domains",
            Value::Unsigned(self.max_sched_domains.into()),
        );
        fields.objects("cpus", &self.cpus, |fields, cpu| {
            fields.field("cpu", Value::Unsigned(cpu.cpu.into()));
            fields.objects("domains", &cpu.domains, |fields, domain| {
                domain.visit(fields)
            });
        });
    }
}

impl SchedDomain {
    fn parse(cursor: &mut Cursor<'_>, has_name: bool) -> Result<Self, WireError> {
        Ok(Self {
            domain: cursor.u32("domain")?,
            name: has_name.then(|| take_owned(cursor)).transpose()?,
            cpu_mask: take_owned(cursor)?,
            cpu_list: take_owned(cursor)?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("domain", Value::Unsigned(self.domain.into()));
        if let Some(name) = &self.name {
            fields.field("name", Value::Text(name));
        }
        fields.field("cpu_mask", Value::Text(&self.cpu_mask));
        fields.field("cpu_list", Value::Text(&self.cpu_list));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::encode_string;
    use crate::testing::{Flat, ORDERS, bytes, u32s};

    #[test]
    fn domains_have_names_from_version_17_on() {
        for endian in ORDERS {
            for (version, texts) in [(15, &["3", "0-1"][..]), (17, &["MC", "3", "0-1"])] {
                let section = bytes(endian, |encoder| {
                    u32s(&[version, 1, 0, 1, 0], encoder);
                    for text in texts {
                        encode_string(text.as_bytes(), encoder);
                    }
                });
                let domains = CpuDomains::parse(&section, endian).unwrap();
                let said = Flat::of(|fields| domains.visit(fields));
                assert_eq!(
                    said.contains(&"cpus.0.domains.0.name=MC".into()),
                    version == 17
                );
                assert!(said.contains(&"cpus.0.domains.0.cpu_list=0-1".into()));
                assert!(CpuDomains::parse(&section[..40], endian).is_err());
            }
        }
    }
}
