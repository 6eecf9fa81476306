# ruff: noqa: E501 - a frame broken over lines is harder to read than a long one
"""Made-up texts that look as if they held a secret and hold none, of 20 kinds, from a seed."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from benchmarks.quality.redaction.secrets_bank import (
    BASE62,
    DIGITS,
    HEX,
    NAMES,
    PLAIN,
    UPPER,
    Rng,
    of,
)

Alike = Callable[[Rng], str]


def commit(rng: Rng) -> str:
    return rng.choice(("Fixed in {}.", "git show {}", "release at commit {}")).format(
        of(rng, HEX, 40)
    )


def uuid4(rng: Rng) -> str:
    value = uuid.UUID(int=rng.getrandbits(128), version=4)
    return rng.choice(("Request {} failed.", "device id {}", "order {}")).format(value)


def tracking(rng: Rng) -> str:
    number = rng.choice(
        (f"1Z{of(rng, UPPER + DIGITS, 16)}", of(rng, DIGITS, 20), f"RR{of(rng, DIGITS, 9)}DE")
    )
    return rng.choice(("Parcel {} arrives on Monday.", "Tracking number {}", "DHL: {}")).format(
        number
    )


def booking(rng: Rng) -> str:
    code = of(rng, UPPER + DIGITS, 6)
    return rng.choice(("Booking reference {}.", "My PNR is {}.", "Confirmation code: {}")).format(
        code
    )


def phone(rng: Rng) -> str:
    number = f"+{rng.choice(('44', '49', '34'))} {of(rng, DIGITS[1:], 3)} {of(rng, DIGITS, 4)} {of(rng, DIGITS, 3)}"
    return rng.choice(("Call {} at {}.", "{}: {}", "{} has a new number, {}")).format(
        rng.choice(NAMES), number
    )


def order(rng: Rng) -> str:
    number = f"{of(rng, DIGITS, 3)}-{of(rng, DIGITS, 7)}-{of(rng, DIGITS, 7)}"
    return rng.choice(("Order {} was shipped.", "invoice {} is paid", "Order number: {}")).format(
        number
    )


def isbn(rng: Rng) -> str:
    return rng.choice(("ISBN 978{}", "The EAN is 400{}.", "serial number 35{}")).format(
        of(rng, DIGITS, 10)
    )


def about_passwords(rng: Rng) -> str:
    return rng.choice(
        ("I forgot the password of {}.", "{} changed the password yesterday.", "{} keeps passwords in a blue book.",
         "The password must have 12 characters, says {}.", "{} asked for a password reset.",
         "Password: ask {}", "Mail {} about the wifi password.")
    ).format(rng.choice(NAMES))  # fmt: skip


def about_codes(rng: Rng) -> str:
    return rng.choice(
        ("The dress code on {} is smart casual.", "Postal code {}, second floor.", "error code {} again",
         "Voucher code SPRING{} at checkout.", "country code {}", "The area code is {}.")
    ).format(rng.randint(10, 99999))  # fmt: skip


def about_keys(rng: Rng) -> str:
    return rng.choice(
        ("The key of {} is under the mat.", "{} has the spare key.", "Press any key, {}.", "The key question is {}'s.",
         "A token of thanks for {}.", "The secret of {}'s cake is butter.", "{} is the bearer of good news.")
    ).format(rng.choice(NAMES))  # fmt: skip


def link(rng: Rng) -> str:
    return rng.choice(
        ("https://www.youtube.com/watch?v={}", "https://photos.example.org/album/{}", "see https://example.org/doc/{}/edit")
    ).format(of(rng, BASE62 + "-_", rng.choice((11, 44))))  # fmt: skip


def file_name(rng: Rng) -> str:
    stamp = f"20{rng.randint(15, 26)}{rng.randint(1, 12):02}{rng.randint(1, 28):02}_{of(rng, DIGITS, 6)}"
    return rng.choice(
        ("IMG_{}.jpg", "Screenshot_{}_com.android.chrome.png", "VID-{}-WA0004.mp4")
    ).format(stamp)


def checksum(rng: Rng) -> str:
    return rng.choice(("md5 {}  disk.iso", "{}  ./backup.tar", "etag {}")).format(of(rng, HEX, 32))


def public_key(rng: Rng) -> str:
    body = of(rng, BASE62 + "+/", 43)
    return f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{body} {rng.choice(NAMES).lower()}@laptop"


def version(rng: Rng) -> str:
    return f"{rng.choice(PLAIN)}-core=={rng.randint(0, 9)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}rc{rng.randint(1, 9)}"


def reading(rng: Rng) -> str:
    return rng.choice(
        ("Meter reading {} kWh", "{} steps this year", "The tank holds {} ml.", "paid {},00 EUR")
    ).format(of(rng, DIGITS[1:], rng.choice((4, 8, 13))))  # fmt: skip


def word_list(rng: Rng) -> str:
    return (
        "Shopping: " + ", ".join(rng.sample(PLAIN, 12))
        if rng.random() < 0.5
        else ("today we took the " + " and the ".join(rng.sample(PLAIN, 8)) + " home")
    )


def code_text(rng: Rng) -> str:
    return rng.choice(
        ("def getUserAccountById(self, accountId{}): ...", "const maxRetryCount{} = 3;", "utf8mb4_unicode_{}_ci",
         "com.example.payments.CustomerInvoiceService{}", "ORDER_STATUS_PENDING_{}")
    ).format(rng.randint(1, 99))  # fmt: skip


def membership(rng: Rng) -> str:
    number = f"{of(rng, DIGITS, 4)} {of(rng, DIGITS, 4)} {of(rng, DIGITS, 3)}"
    return rng.choice(
        ("Library card {}", "frequent flyer number {}", "My membership number is {}.")
    ).format(number)


def place(rng: Rng) -> str:
    return f"{rng.randint(-90, 90)}.{of(rng, DIGITS, 6)}, {rng.randint(-180, 180)}.{of(rng, DIGITS, 6)} plus code {of(rng, UPPER, 4)}+{of(rng, UPPER, 2)}"


_ALL: tuple[Alike, ...] = (
    commit, uuid4, tracking, booking, phone, order, isbn, about_passwords, about_codes, about_keys,
    link, file_name, checksum, public_key, version, reading, word_list, code_text, membership, place,
)  # fmt: skip
DEVELOPED: dict[str, Alike] = {one.__name__: one for one in _ALL[::2]}
HELD_OUT: dict[str, Alike] = {one.__name__: one for one in _ALL[1::2]}
