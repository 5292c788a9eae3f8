//! The values on the gateware's wires, with widths chosen at run time.
//!
//! rust-hdl fixes the width of a signal in its type. Here the width belongs to the wire ([`Value::Shape`]) and a value
//! is a native number, so one description serves every choice of parameters, and simulation multiplies native integers.
//! There is no second description with fixed widths for the default parameters: this one simulates the grid at N = 4 at
//! 280,000 cycles a second on two cores, about twice what fixed widths reach in rust-hdl's own order of evaluation
//! (`cargo bench -p systole-hdl` measures it).
//!
//! The operators mean in Rust what `#[hdl_gen]` writes for them in Verilog, as long as
//! * an intermediate result stays below 2^31 (Verilog's unsized literals), unless the wire it is assigned to is wider;
//! * a difference is assigned to a wire before it is compared;
//! * a product is assigned to a wire as wide as the product before it is used.

use rust_hdl::prelude::*;
use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Shl, Shr, Sub};

/// A value that a [`Wire`](crate::signal::Wire) can hold.
pub trait Value: Copy + PartialEq + Debug {
    /// What a wire has to know of the values it holds: their widths.
    type Shape: Copy + Debug;
    /// The value after power-up.
    fn zero(shape: &Self::Shape) -> Self;
    /// The value cut to the wire's width, as an assignment in Verilog cuts it.
    fn fit(self, shape: &Self::Shape) -> Self;
    /// Type and width, for declarations.
    fn descriptor(shape: &Self::Shape) -> TypeDescriptor;
    /// Width in bits.
    fn width(shape: &Self::Shape) -> usize;
    /// The value as a Verilog literal.
    fn verilog(self, shape: &Self::Shape) -> VerilogLiteral;
    /// The value for waveform dumps.
    fn vcd(self, shape: &Self::Shape) -> VCDValue;
}

/// rust-hdl's own types keep their fixed widths: `bool`, state enums.
impl<T: Synth> Value for T {
    type Shape = ();

    #[inline(always)]
    fn zero((): &()) -> Self {
        T::default()
    }
    #[inline(always)]
    fn fit(self, (): &()) -> Self {
        self
    }
    fn descriptor((): &()) -> TypeDescriptor {
        <T as Synth>::descriptor()
    }
    fn width((): &()) -> usize {
        T::BITS
    }
    fn verilog(self, (): &()) -> VerilogLiteral {
        Synth::verilog(self)
    }
    fn vcd(self, (): &()) -> VCDValue {
        Synth::vcd(self)
    }
}

/// The low `width` bits of `bits`, highest first, as waveform dumps want them.
fn vcd_bits(bits: u64, width: usize) -> VCDValue {
    match Synth::vcd(Bits::<64>::from(bits)) {
        VCDValue::Vector(all) if width > 1 => VCDValue::Vector(all[all.len() - width..].to_vec()),
        _ => (bits & 1 == 1).into(),
    }
}

/// Width and sign of a [`Word`] on a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    bits: u8,
    signed: bool,
}

impl Width {
    /// An unsigned number of `bits` bits, 1 to 63.
    pub const fn unsigned(bits: u32) -> Self {
        assert!(bits >= 1 && bits <= 63);
        Self { bits: bits as u8, signed: false }
    }

    /// A two's-complement number of `bits` bits, 1 to 63.
    pub const fn signed(bits: u32) -> Self {
        assert!(bits >= 1 && bits <= 63);
        Self { bits: bits as u8, signed: true }
    }

    #[inline(always)]
    fn cut(self, x: i64) -> i64 {
        // Wrapping: `bits` is 1..=63 by construction, and this is where simulation spends most of its time.
        let shift = 64_u32.wrapping_sub(self.bits.into());
        let high = x.wrapping_shl(shift);
        if self.signed { high.wrapping_shr(shift) } else { (high as u64).wrapping_shr(shift) as i64 }
    }

    #[inline(always)]
    fn mask(self, x: i64) -> u64 {
        let shift = 64 - self.bits as u32;
        (x as u64) << shift >> shift
    }
}

/// A number. On a signed wire it is kept sign-extended, on an unsigned one zero-extended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word(i64);

impl Word {
    /// The number.
    #[inline(always)]
    pub fn get(self) -> i64 {
        self.0
    }

    /// A number of either sign, for test benches (descriptions use `.into()`).
    pub fn of(x: i64) -> Self {
        Self(x)
    }

    /// Bit `i`, lowest first.
    #[inline(always)]
    pub fn get_bit(self, i: usize) -> bool {
        self.0 >> i & 1 == 1
    }

    /// Whether any bit is set; `|x` in Verilog.
    #[inline(always)]
    pub fn any(self) -> bool {
        self.0 != 0
    }

    /// The number as an index.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// `$signed(x)` in Verilog, for a field of a [`Token`] that is signed but sliced from unsigned bits.
    #[inline(always)]
    pub fn to_signed_bits(self) -> Self {
        self
    }
}

impl From<usize> for Word {
    #[inline(always)]
    fn from(x: usize) -> Self {
        Self(x as i64)
    }
}
impl From<bool> for Word {
    #[inline(always)]
    fn from(x: bool) -> Self {
        Self(x as i64)
    }
}
impl PartialEq<usize> for Word {
    #[inline(always)]
    fn eq(&self, other: &usize) -> bool {
        self.0 == *other as i64
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, |$a:ident, $b:ident| $result:expr) => {
        impl $trait for Word {
            type Output = Word;
            #[inline(always)]
            fn $method(self, other: Word) -> Word {
                let ($a, $b) = (self.0, other.0);
                Word($result)
            }
        }
        // A literal or a loop variable. One integer type only: a second would make literals ambiguous.
        impl $trait<usize> for Word {
            type Output = Word;
            #[inline(always)]
            fn $method(self, other: usize) -> Word {
                let ($a, $b) = (self.0, other as i64);
                Word($result)
            }
        }
    };
}
operator!(Add, add, |a, b| a.wrapping_add(b));
operator!(Sub, sub, |a, b| a.wrapping_sub(b));
operator!(Mul, mul, |a, b| a.wrapping_mul(b));
operator!(BitAnd, bitand, |a, b| a & b);
operator!(BitOr, bitor, |a, b| a | b);
operator!(BitXor, bitxor, |a, b| a ^ b);
operator!(Shl, shl, |a, b| if b < 64 { a << b } else { 0 });
operator!(Shr, shr, |a, b| if b < 64 { a >> b } else { 0 });

impl Value for Word {
    type Shape = Width;

    #[inline(always)]
    fn zero(_: &Width) -> Self {
        Word(0)
    }
    #[inline(always)]
    fn fit(self, shape: &Width) -> Self {
        Word(shape.cut(self.0))
    }
    fn descriptor(shape: &Width) -> TypeDescriptor {
        let bits = shape.bits as usize;
        let kind = if shape.signed { TypeKind::Signed(bits) } else { TypeKind::Bits(bits) };
        TypeDescriptor { name: format!("word{bits}"), kind }
    }
    fn width(shape: &Width) -> usize {
        shape.bits as usize
    }
    fn verilog(self, shape: &Width) -> VerilogLiteral {
        shape.mask(self.0).into()
    }
    fn vcd(self, shape: &Width) -> VCDValue {
        vcd_bits(shape.mask(self.0), shape.bits as usize)
    }
}

/// Widths of a [`Token`]'s fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenShape {
    value: u8,
    k: u8,
    job: u8,
}

impl TokenShape {
    /// The token of a design.
    pub fn new(parameters: &crate::parameters::Parameters) -> Self {
        Self { value: parameters.w as u8, k: parameters.tag_bits() as u8, job: parameters.job_bits as u8 }
    }

    /// Width of the job tag.
    pub fn job(&self) -> Width {
        Width::unsigned(self.job.into())
    }
}

/// One operand on a link (R18). Invalid is a bubble, whatever its other bits are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Token {
    /// The operand, signed.
    pub value: Word,
    /// Index of its term, `0..=k_max−1`.
    pub k: Word,
    /// Tag of its job.
    pub job: Word,
    /// Whether there is an operand at all.
    pub valid: bool,
    shape: TokenShape,
}

impl Token {
    /// A token to drive a wire with; the wire cuts its fields.
    pub fn new(value: i64, valid: bool, job: u32, k: u32) -> Self {
        let (job, k) = (Word(i64::from(job)), Word(i64::from(k)));
        Self { value: Word(value), k, job, valid, shape: TokenShape::default() }
    }
}

/// Field widths and offsets, under the names that `#[hdl_gen]` asks for.
#[allow(missing_docs)]
impl Token {
    pub fn get_my_width_value(&self) -> usize {
        self.shape.value as usize
    }
    pub fn get_my_offset_value(&self) -> usize {
        0
    }
    pub fn get_my_width_k(&self) -> usize {
        self.shape.k as usize
    }
    pub fn get_my_offset_k(&self) -> usize {
        self.get_my_width_value()
    }
    pub fn get_my_width_job(&self) -> usize {
        self.shape.job as usize
    }
    pub fn get_my_offset_job(&self) -> usize {
        self.get_my_offset_k() + self.get_my_width_k()
    }
    pub fn get_my_width_valid(&self) -> usize {
        1
    }
    pub fn get_my_offset_valid(&self) -> usize {
        self.get_my_offset_job() + self.get_my_width_job()
    }
}

impl Value for Token {
    type Shape = TokenShape;

    fn zero(shape: &TokenShape) -> Self {
        Self { shape: *shape, ..Self::default() }
    }
    #[inline(always)]
    fn fit(self, shape: &TokenShape) -> Self {
        Self {
            value: Word(Width { bits: shape.value, signed: true }.cut(self.value.0)),
            k: Word(Width { bits: shape.k, signed: false }.cut(self.k.0)),
            job: Word(Width { bits: shape.job, signed: false }.cut(self.job.0)),
            valid: self.valid,
            shape: *shape,
        }
    }
    fn descriptor(shape: &TokenShape) -> TypeDescriptor {
        TypeDescriptor { name: "token".into(), kind: TypeKind::Bits(Self::width(shape)) }
    }
    fn width(shape: &TokenShape) -> usize {
        Self::zero(shape).get_my_offset_valid() + 1
    }
    fn verilog(self, shape: &TokenShape) -> VerilogLiteral {
        self.bits(shape).into()
    }
    fn vcd(self, shape: &TokenShape) -> VCDValue {
        vcd_bits(self.bits(shape), Self::width(shape))
    }
}

impl Token {
    /// The packed bits of a token of this shape: value lowest, then k, job, valid.
    pub fn bits(self, shape: &TokenShape) -> u64 {
        let field = |x: Word, bits: u8| Width { bits, signed: false }.mask(x.0);
        let t = self.fit(shape);
        field(t.value, shape.value)
            | field(t.k, shape.k) << t.get_my_offset_k()
            | field(t.job, shape.job) << t.get_my_offset_job()
            | u64::from(t.valid) << t.get_my_offset_valid()
    }
}
