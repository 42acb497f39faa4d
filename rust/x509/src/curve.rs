//! The elliptic curves of NIST, for the signatures that ring does not verify: those of P-521, and rare digests.
//!
//! Only public values are computed with, so that nothing has to take the same time.

#![allow(clippy::arithmetic_side_effects, reason = "these numbers have any size, and none is divided by zero")]
#![allow(clippy::many_single_char_names, reason = "the names of the formulas")]

use std::sync::LazyLock;

use num_bigint::BigUint;

use crate::oid;

/// A curve `y² = x³ - 3x + b` modulo a prime.
#[derive(Debug, PartialEq, Eq)]
pub struct Curve {
    /// Its name in Go, as `P-256`.
    pub name: &'static str,
    /// The bytes of a coordinate.
    size: usize,
    prime: BigUint,
    b: BigUint,
    /// The order of the base point.
    pub(crate) order: BigUint,
    base: Point,
}

/// A point in affine coordinates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    x: BigUint,
    y: BigUint,
}

/// A point in Jacobian coordinates; `z` is zero at infinity.
#[derive(Clone)]
struct Jacobian {
    x: BigUint,
    y: BigUint,
    z: BigUint,
}

/// Name, bytes of a coordinate, then prime, `b`, order and base point.
type Numbers = (&'static str, usize, [&'static str; 5]);

#[rustfmt::skip]
const NUMBERS: [Numbers; 4] = [
    ("P-224", 28, [
        "ffffffffffffffffffffffffffffffff000000000000000000000001",
        "b4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4",
        "ffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3d",
        "b70e0cbd6bb4bf7f321390b94a03c1d356c21122343280d6115c1d21",
        "bd376388b5f723fb4c22dfe6cd4375a05a07476444d5819985007e34",
    ]),
    ("P-256", 32, [
        "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
        "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
        "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
        "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
        "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
    ]),
    ("P-384", 48, [
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff",
        "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef",
        "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973",
        "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
        "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f",
    ]),
    ("P-521", 66, [
        "1ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
        "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
        "c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66",
        "11839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650",
    ]),
];

static CURVES: LazyLock<[Curve; 4]> = LazyLock::new(|| {
    NUMBERS.map(|(name, size, numbers)| {
        let [prime, b, order, x, y] =
            numbers.map(|digits| BigUint::parse_bytes(digits.as_bytes(), 16).unwrap_or_default());
        Curve { name, size, prime, b, order, base: Point { x, y } }
    })
});

impl Curve {
    /// Return the curve of an object identifier.
    pub(crate) fn by_oid(id: &[u8]) -> Option<&'static Self> {
        let all = [oid::P224, oid::P256, oid::P384, oid::P521];
        CURVES.iter().zip(all).find(|(_, own)| *own == id).map(|(curve, _)| curve)
    }

    /// Read a point in its uncompressed form (`ecdsa.ParseUncompressedPublicKey`).
    pub(crate) fn point(&self, bytes: &[u8]) -> Option<Point> {
        let [4, rest @ ..] = bytes else { return None };
        let (x, y) = rest.split_at_checked(self.size).filter(|(_, y)| y.len() == self.size)?;
        let [x, y] = [x, y].map(BigUint::from_bytes_be);
        let p = &self.prime;
        let three_x = &x * 3_u8;
        let right = &x * &x * &x + &self.b + p * 3_u8 - three_x % (p * 3_u8);
        let valid = x < *p && y < *p && (&y * &y) % p == right % p;
        valid.then_some(Point { x, y })
    }

    /// Return the uncompressed form of a point.
    pub(crate) fn bytes(&self, point: &Point) -> Vec<u8> {
        let mut out = vec![4];
        for number in [&point.x, &point.y] {
            let digits = number.to_bytes_be();
            out.resize(out.len() + self.size.saturating_sub(digits.len()), 0);
            out.extend_from_slice(&digits);
        }
        out
    }

    /// Verify the numbers of a signature of a digest (SEC 1, section 4.1.4).
    pub(crate) fn verify(&self, point: &Point, digest: &[u8], r: &BigUint, s: &BigUint) -> bool {
        let n = &self.order;
        let zero = BigUint::ZERO;
        if *r == zero || *s == zero || r >= n || s >= n {
            return false;
        }
        let mut hash = BigUint::from_bytes_be(digest);
        let excess = (digest.len() as u64 * 8).saturating_sub(n.bits());
        hash >>= excess;
        let Some(inverse) = s.modinv(n) else { return false };
        let (u, v) = (hash * &inverse % n, r * &inverse % n);
        let sum = self.sum(&u, &v, point);
        let Some(inverse) = sum.z.modinv(&self.prime) else { return false };
        let x = &sum.x * &inverse % &self.prime * &inverse % &self.prime;
        x % n == *r
    }

    /// Return `u` times the base point plus `v` times a point.
    fn sum(&self, u: &BigUint, v: &BigUint, point: &Point) -> Jacobian {
        let base = lift(&self.base);
        let own = lift(point);
        let both = self.add(&base, &own);
        let mut at = Jacobian { x: BigUint::from(1_u8), y: BigUint::from(1_u8), z: BigUint::ZERO };
        for bit in (0..u.bits().max(v.bits())).rev() {
            at = self.double(&at);
            match (u.bit(bit), v.bit(bit)) {
                (true, true) => at = self.add(&at, &both),
                (true, false) => at = self.add(&at, &base),
                (false, true) => at = self.add(&at, &own),
                (false, false) => {}
            }
        }
        at
    }

    fn minus(&self, a: &BigUint, b: &BigUint) -> BigUint {
        if a >= b { a - b } else { a + &self.prime - b }
    }

    fn times(&self, a: &BigUint, b: &BigUint) -> BigUint {
        a * b % &self.prime
    }

    /// `dbl-2001-b` of the Explicit-Formulas Database.
    fn double(&self, p: &Jacobian) -> Jacobian {
        let m = &self.prime;
        let delta = self.times(&p.z, &p.z);
        let gamma = self.times(&p.y, &p.y);
        let beta = self.times(&p.x, &gamma);
        let alpha = self.minus(&p.x, &delta) * (&p.x + &delta) * 3_u8 % m;
        let x = self.minus(&self.times(&alpha, &alpha), &(&beta * 8_u8 % m));
        let z = self.minus(&self.minus(&(&p.y + &p.z).modpow(&BigUint::from(2_u8), m), &gamma), &delta);
        let rest = self.times(&alpha, &self.minus(&(&beta * 4_u8 % m), &x));
        let y = self.minus(&rest, &(&gamma * &gamma * 8_u8 % m));
        Jacobian { x, y, z }
    }

    /// `add-1998-cmo-2`, with the cases that it does not cover.
    fn add(&self, p: &Jacobian, q: &Jacobian) -> Jacobian {
        if p.z == BigUint::ZERO {
            return q.clone();
        }
        if q.z == BigUint::ZERO {
            return p.clone();
        }
        let (pz, qz) = (self.times(&p.z, &p.z), self.times(&q.z, &q.z));
        let (u, v) = (self.times(&p.x, &qz), self.times(&q.x, &pz));
        let (s, t) = (self.times(&p.y, &self.times(&q.z, &qz)), self.times(&q.y, &self.times(&p.z, &pz)));
        let (h, r) = (self.minus(&v, &u), self.minus(&t, &s));
        if h == BigUint::ZERO {
            let infinity = Jacobian { x: BigUint::from(1_u8), y: BigUint::from(1_u8), z: BigUint::ZERO };
            return if r == BigUint::ZERO { self.double(p) } else { infinity };
        }
        let square = self.times(&h, &h);
        let cube = self.times(&square, &h);
        let middle = self.times(&u, &square);
        let x = self.minus(&self.minus(&self.times(&r, &r), &cube), &(&middle * 2_u8 % &self.prime));
        let y = self.minus(&self.times(&r, &self.minus(&middle, &x)), &self.times(&s, &cube));
        let z = self.times(&self.times(&p.z, &q.z), &h);
        Jacobian { x, y, z }
    }
}

fn lift(point: &Point) -> Jacobian {
    Jacobian { x: point.x.clone(), y: point.y.clone(), z: BigUint::from(1_u8) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_points_are_on_their_curves_and_have_their_orders() {
        for curve in &*CURVES {
            assert_eq!(curve.point(&curve.bytes(&curve.base)), Some(curve.base.clone()), "{}", curve.name);
            let end = curve.sum(&curve.order, &BigUint::ZERO, &curve.base);
            assert_eq!(end.z, BigUint::ZERO, "{}", curve.name);
            let mut off = curve.bytes(&curve.base);
            *off.last_mut().unwrap() ^= 1;
            assert_eq!(curve.point(&off), None, "{}", curve.name);
        }
    }
}
