"""Decryption of a damaged database page by page, past what SQLCipher refuses.

SQLCipher reads no page whose checksum (HMAC) is wrong, so one changed byte costs a whole page, and
one in the first page everything. Without the look at the checksum it costs some 32 bytes, as it
does in a plain file.
"""

from __future__ import annotations

from pathlib import Path

PAGE, RESERVED, IV, SALT = 4096, 80, 16, 16
"""Bytes: of a page, unless one asks for another size, which nobody does here; at its end, for the
initialisation vector and the checksum after it; of the vector; of the salt, which stands in the
first page in the place of ``FIRST_WORDS``."""
FIRST_WORDS = b"SQLite format 3\0"
"""What a plain file begins with."""


def decrypt_pages(database: Path, key: bytes) -> None:
    """Make an encrypted file, which nobody has open and which has no log, a plain one."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    data = database.read_bytes()
    plain = bytearray()
    for start in range(0, len(data) - PAGE + 1, PAGE):
        page = data[start : start + PAGE]
        head = SALT if start == 0 else 0
        vector = page[PAGE - RESERVED : PAGE - RESERVED + IV]
        reader = Cipher(algorithms.AES256(key), modes.CBC(vector)).decryptor()
        plain += FIRST_WORDS[:head] + reader.update(page[head : PAGE - RESERVED])
        plain += bytes(RESERVED)
    database.write_bytes(plain)
