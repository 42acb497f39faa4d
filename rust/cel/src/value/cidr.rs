//! Networks.

#![allow(clippy::arithmetic_side_effects, reason = "a prefix has no more bits than its address")]

use std::fmt;
use std::net::IpAddr;

/// A network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cidr {
    pub ip: IpAddr,
    pub bits: u8,
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.bits)
    }
}

impl Cidr {
    /// Return the network with its host bits cleared.
    pub fn network(self) -> Self {
        let ip = match self.ip {
            IpAddr::V4(ip) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V4((u32::from(ip) & mask).into())
            }
            IpAddr::V6(ip) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V6((u128::from(ip) & mask).into())
            }
        };
        Self { ip, bits: self.bits }
    }

    /// Report whether an address is in the network.
    pub fn contains(self, ip: IpAddr) -> bool {
        ip.is_ipv4() == self.ip.is_ipv4() && Self { ip, bits: self.bits }.network().ip == self.network().ip
    }
}
