#!/usr/bin/env python3
"""Golden frames of the wire, computed with zlib.crc32 and nothing of the project.

Writes frames.txt: a line a frame, `name hex-bytes-on-the-wire`. Numbers are those of hdl/src/wire.rs.
"""
import struct
import zlib
from pathlib import Path


def wire(opcode, seq, body=b"", crc_xor=0):
    """The bytes on the wire of one frame; crc_xor damages its CRC."""
    frame = struct.pack("<BBH", opcode, seq, len(body)) + body
    frame += struct.pack("<I", zlib.crc32(frame) ^ crc_xor)
    escaped = frame.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc")
    return b"\xc0" + escaped + b"\xc0"


def ident():
    """IDENT of an N=2 design in simulation."""
    head = struct.pack("<BBIBB", 0x11, 0x10, 0x12345678, 1, 1)
    small = struct.pack("<BBBBBB", 2, 8, 32, 2, 0, 1)
    words = struct.pack("<IIIIIII", 256, 512, 1024, 4096, 24_000_000, 3_000_000, 2048)
    return head + small + words + struct.pack("<Q", 0x0123456789ABCDEF)


FRAMES = [
    # A session: C = [[1, 2], [3, 4]] x [[5, 6], [7, 8]] on an N=2 board.
    ("hello", wire(0x01, 0x10, struct.pack("<I", 0x12345678))),
    ("ident", wire(0x81, 0x10, ident())),
    ("write-a", wire(0x02, 0x11, struct.pack("<BHH4b", 0, 0, 2, 1, 2, 3, 4))),
    ("ack-a", wire(0x82, 0x12, bytes([0x12, 0x11]))),
    ("write-b", wire(0x02, 0x12, struct.pack("<BHH4b", 1, 0, 2, 5, 7, 6, 8))),
    ("ack-b", wire(0x82, 0x13, bytes([0x13, 0x12]))),
    ("multiply", wire(0x03, 0x13, struct.pack("<HHHIBBB", 0, 0, 2, 2, 1, 0, 3))),
    (
        "result",
        wire(
            0x83,
            0x13,
            bytes([0x14, 0x13, 0])
            + b"".join(struct.pack("<i", v)[:3] for v in (19, 22, 43, 50))
            + struct.pack("<II", 4, 4),
        ),
    ),
    # The same WRITE with one bit of its CRC wrong, and what the board says to it.
    ("write-damaged", wire(0x02, 0x14, struct.pack("<BHH4b", 0, 0, 2, 1, 2, 3, 4), crc_xor=1)),
    ("nak-crc", wire(0x84, 0x14, bytes([0x14, 0x13, 0x01]))),
    # Every other kind of frame, with bytes that need escapes.
    ("write-negative", wire(0x02, 0xC0, struct.pack("<BHH4b", 1, 0xDB, 1, -64, -37, -128, 127))),
    ("inject", wire(0x04, 0x21, struct.pack("<BII", 6, 3, 1000))),
    ("status", wire(0x05, 0x22)),
    ("status-reply", wire(0x85, 0x22, bytes([0x23, 0x22, 3, 0, 1, 2, 9, 8, 7, 6, 5]))),
    ("source", wire(0x06, 0x23, struct.pack("<H", 5))),
    ("data", wire(0x86, 0x23, bytes([0x24, 0x23, 0, 1, 2, 3, 4]))),
    ("sink", wire(0x07, 0x24, b"\xc0\xdb\xdc\xdd")),
    ("echo", wire(0x08, 0x25, b"\xdb\xc0")),
    ("echo-reply", wire(0x88, 0x25, b"\x26\x25\xdb\xc0")),
]

if __name__ == "__main__":
    text = "".join(f"{name} {data.hex()}\n" for name, data in FRAMES)
    (Path(__file__).parent / "frames.txt").write_text(text)
