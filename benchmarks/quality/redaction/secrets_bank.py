# ruff: noqa: E501 - a frame broken over lines is harder to read than a long one
"""Made-up secrets of 25 kinds, and texts that only look like them, from a seed.

The kinds are parted: rules may be built on those of ``DEVELOPED``, never on the others. Every value
is random; checksums are right where a kind has them.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from typing import TypeAlias

from mnemonic import Mnemonic
from stdnum import luhn
from stdnum.br import cpf
from stdnum.es import dni
from stdnum.fr import nir
from stdnum.iso7064 import mod_97_10
from stdnum.nl import bsn
from stdnum.pl import pesel

Rng: TypeAlias = random.Random
Made: TypeAlias = tuple[str, str]
"""A text, and the secret in it."""

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
LETTERS = LOWER + UPPER
BASE62 = LETTERS + DIGITS
HEX = "0123456789abcdef"
SIGNS = "!#$%&*+-?@^_~"
NAMES = ("Ines", "Jonas", "Priya", "Marek", "Olu", "Sakura")
PLACES = ("the cabin", "the office", "my sister's flat", "the studio", "Hotel Adria")
SERVICES = ("Dropbox", "the library", "Spotify", "my router", "the tax portal", "eBay")
PLAIN = (
    "river marble falcon copper lantern meadow cactus violin harbor pepper saddle comet walnut"
    " magnet tulip glacier pocket thunder"
).split()
PLAIN_TEXTS = ("Bring it tomorrow.", "Thanks!", "See you on Friday.", "Call me later.", "")


def of(rng: Rng, signs: str, size: int) -> str:
    """Random signs, with no run that could be a word."""
    return "".join(rng.choice(signs) for _ in range(size))


def mixed(rng: Rng, size: int) -> str:
    """A password as a manager makes it: letters of both sizes, a digit and a sign in it."""
    made = [rng.choice(LOWER), rng.choice(UPPER), rng.choice(DIGITS), rng.choice(SIGNS[:8])]
    made += [rng.choice(BASE62) for _ in range(size - 4)]
    rng.shuffle(made)
    return "a" + "".join(made)


def human(rng: Rng) -> str:
    """A password as people make it."""
    word = rng.choice(PLAIN)
    return rng.choice(
        (
            f"{word.title()}{rng.randint(10, 9999)}",
            f"{word}{rng.choice(SIGNS[:6])}{rng.randint(10, 99)}",
            f"{word}-{rng.choice(PLAIN)}-{rng.randint(10, 99)}",
            word.replace("e", "3").replace("o", "0").title() + "7!",
        )
    )


def put(rng: Rng, frames: tuple[str, ...], secret: str) -> Made:
    text = rng.choice(frames).format(
        s=secret, n=rng.choice(NAMES), p=rng.choice(PLACES), v=rng.choice(SERVICES)
    )
    return f"{text} {rng.choice(PLAIN_TEXTS)}".strip(), secret


def card(rng: Rng) -> Made:
    start, size = rng.choice((("4", 16), ("52", 16), ("37", 15), ("6011", 16)))
    body = start + of(rng, DIGITS, size - len(start) - 1)
    number = body + luhn.calc_check_digit(body)
    if size == 16 and rng.random() < 0.6:
        number = rng.choice((" ", "-")).join(number[at : at + 4] for at in range(0, 16, 4))
    frames = (
        "My new card is {s}.",
        "{n} pays with {s}, exp 04/29",
        "Karte: {s}",
        "{s} is the Visa",
    )
    return put(rng, frames, number)


def iban(rng: Rng) -> Made:
    country, body = rng.choice(
        (
            ("DE", of(rng, DIGITS, 18)),
            ("ES", of(rng, DIGITS, 20)),
            ("GB", of(rng, UPPER, 4) + of(rng, DIGITS, 14)),
        )
    )
    code = country + mod_97_10.calc_check_digits(body + country) + body
    if rng.random() < 0.5:
        code = " ".join(code[at : at + 4] for at in range(0, len(code), 4))
    return put(rng, ("Rent goes to {s}.", "IBAN {s}", "{n}'s account: {s}"), code)


def github(rng: Rng) -> Made:
    return put(rng, ("CI uses {s}", "token {s} expires in May", "GITHUB_TOKEN={s}"),
               "gh" + rng.choice("ops") + "_" + of(rng, BASE62, 36))  # fmt: skip


def aws(rng: Rng) -> Made:
    return put(rng, ("aws_secret_access_key = {s}", "AWS secret key: {s}", "secret access key is {s}"),
               of(rng, BASE62 + "/+", 40))  # fmt: skip


def pem(rng: Rng) -> Made:
    body = "\n".join(of(rng, BASE62 + "/+", 64) for _ in range(3))
    what = rng.choice(("RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY"))
    return f"for {rng.choice(PLACES)}:\n-----BEGIN {what}-----\n{body}\n-----END {what}-----", body


def jwt(rng: Rng) -> Made:
    def part(value: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    token = ".".join(
        (part({"alg": "HS256"}), part({"sub": of(rng, DIGITS, 9)}), of(rng, BASE62, 43))
    )
    return put(rng, ("Authorization: Bearer {s}", "session {s}", "the jwt is {s}"), token)


def postgres(rng: Rng) -> Made:
    secret = mixed(rng, 12).replace("@", "x").replace("#", "y").replace("?", "z")
    return put(
        rng,
        ("postgresql://app:{s}@db.example.org:5432/shop", "mysql://root:{s}@10.0.0.4/x"),
        secret,
    )


def seed_labelled(rng: Rng) -> Made:
    return put(
        rng, ("My seed phrase: {s}", "recovery phrase {s}", "Mnemonic: {s}"), _words(rng, 128)
    )


def password_en(rng: Rng) -> Made:
    frames = ("The password for {v} is {s}.", "I changed my password to {s}.", "password: {s}",
              "{v} login, password {s}", "My {v} password is now {s}.")  # fmt: skip
    return put(rng, frames, human(rng))


def wifi_label(rng: Rng) -> Made:
    return put(rng, ("Wifi at {p}: network Linksys, password {s}", "WLAN-Schlüssel: {s}", "wifi key: {s}"),
               rng.choice((human(rng), of(rng, DIGITS, 16))))  # fmt: skip


def otp_en(rng: Rng) -> Made:
    return put(rng, ("{s} is your verification code.", "Your login code is {s}.", "Use {s} as one-time password."),
               of(rng, DIGITS, 6))  # fmt: skip


def national_dev(rng: Rng) -> Made:
    if rng.random() < 0.5:
        body = of(rng, DIGITS, 8)
        return put(rng, ("My DNI is {s}.", "DNI: {s}"), body + dni.calc_check_digit(body))
    body = of(rng, DIGITS, 9)
    return put(rng, ("My CPF is {s}.", "CPF {s}"), cpf.format(body + cpf._calc_check_digits(body)))


# ---- held out: looked at once, when the rules are done --------------------------------------


def azure(rng: Rng) -> Made:
    key = of(rng, BASE62 + "+/", 86) + "=="
    return put(rng, ("DefaultEndpointsProtocol=https;AccountName=box;AccountKey={s};EndpointSuffix=x",
                     "storage account key {s}"), key)  # fmt: skip


def webhook(rng: Rng) -> Made:
    secret = of(rng, BASE62, 24)
    path = f"T{of(rng, UPPER + DIGITS, 8)}/B{of(rng, UPPER + DIGITS, 8)}/{secret}"
    return put(
        rng,
        (
            "https://hooks.slack.com/services/" + path,
            "post to https://hooks.slack.com/services/" + path,
        ),
        secret,
    )


def discord(rng: Rng) -> Made:
    token = f"M{of(rng, BASE62, 23)}.{of(rng, BASE62, 6)}.{of(rng, BASE62 + '_-', 27)}"
    return put(rng, ("the bot logs in with {s}", "DISCORD_TOKEN={s}", "bot: {s}"), token)


def other_token(rng: Rng) -> Made:
    start = rng.choice(("sq0csp-", "lin_api_", "glsa_", "rnd_", "fly_", "dop_v2_", "nfp_"))
    return put(
        rng, ("{v} API {s}", "deploy with {s}", "use {s} for uploads"), start + of(rng, BASE62, 40)
    )


def connection(rng: Rng) -> Made:
    secret = mixed(rng, 11).replace("@", "x").replace("#", "y").replace("?", "z")
    frames = ("Server=db1;Database=shop;User Id=sa;Password={s};", "redis://:{s}@cache.example.org:6379/0",
              "amqp://guest:{s}@mq.example.org/v", "mongodb+srv://app:{s}@c0.example.net/x",
              "curl -u admin:{s} https://example.org/x", "jdbc:oracle:thin:scott/{s}@db:1521:xe")  # fmt: skip
    return put(rng, frames, secret)


def seed_bare(rng: Rng) -> Made:
    return put(
        rng, ("{s}", "wallet of {n}:\n{s}\n", "Ledger\n{s}"), _words(rng, rng.choice((128, 256)))
    )


def password_abroad(rng: Rng) -> Made:
    frames = ("Mein Passwort für {v} ist {s}.", "Le mot de passe de {v} est {s}.", "La contraseña es {s}.",
              "La password del wifi è {s}.", "Het wachtwoord is {s}.", "Hasło: {s}", "密码是{s}")  # fmt: skip
    return put(rng, frames, human(rng))


def password_prose(rng: Rng) -> Made:
    frames = ("To get into {v} type {s} as the password.", "{n} set {s} as password on {v}.",
              "log in as {n} with {s} as your passcode", "The laptop unlocks with the password {s}.",
              "user admin / pw {s}", "credentials for {v}: {n} / {s}")  # fmt: skip
    return put(rng, frames, human(rng))


def wifi_code(rng: Rng) -> Made:
    return put(
        rng, ("WIFI:T:WPA;S:Casa {n};P:{s};;", "WIFI:S:net;T:WPA2;P:{s};H:true;;"), human(rng)
    )


def otp_abroad(rng: Rng) -> Made:
    frames = ("Ihr Bestätigungscode lautet {s}.", "Votre code de vérification est {s}.",
              "Su código de seguridad es {s}", "Il tuo codice di verifica è {s}", "您的验证码是{s}",
              "Uw verificatiecode is {s}", "Twój kod weryfikacyjny to {s}")  # fmt: skip
    return put(rng, frames, of(rng, DIGITS, 6))


def national_held(rng: Rng) -> Made:
    match rng.randrange(4):
        case 0:
            body = f"{rng.randint(50, 99)}{rng.randint(1, 12):02}{rng.randint(1, 28):02}{of(rng, DIGITS, 4)}"
            return put(rng, ("Mój PESEL to {s}.", "PESEL {s}"), body + pesel.calc_check_digit(body))
        case 1:
            while not bsn.is_valid(number := of(rng, DIGITS, 9)):
                pass
            return put(rng, ("Mijn BSN is {s}.", "burgerservicenummer {s}"), number)
        case 2:
            body = f"1{rng.randint(50, 99)}{rng.randint(1, 12):02}75{of(rng, DIGITS, 6)}"
            return put(
                rng, ("My French NIR is {s}.", "NIR: {s}"), body + nir.calc_check_digits(body)
            )
        case _:
            area = rng.randint(100, 600)
            number = f"{area}-{rng.randint(10, 99)}-{rng.randint(1000, 9999)}"
            return put(rng, ("My SSN is {s}.", "Social Security Number: {s}"), number)


def hex_key(rng: Rng) -> Made:
    return put(rng, ("wallet private key {s}", "encryption key: {s}", "signing_secret={s}", "HMAC key = {s}"),
               of(rng, HEX, 64))  # fmt: skip


def pin(rng: Rng) -> Made:
    frames = (
        "The PIN of my debit card is {s}.",
        "SIM PIN {s}",
        "phone PIN: {s}",
        "My card's PIN code is {s}.",
    )
    return put(rng, frames, of(rng, DIGITS, 4))


def _words(rng: Rng, bits: int) -> str:
    return str(Mnemonic("english").to_mnemonic(rng.randbytes(bits // 8)))


DEVELOPED: dict[str, Callable[[Rng], Made]] = {
    one.__name__: one
    for one in (card, iban, github, aws, pem, jwt, postgres, seed_labelled, password_en, wifi_label,
                otp_en, national_dev)
}  # fmt: skip
HELD_OUT: dict[str, Callable[[Rng], Made]] = {
    one.__name__: one
    for one in (azure, webhook, discord, other_token, connection, seed_bare, password_abroad,
                password_prose, wifi_code, otp_abroad, national_held, hex_key, pin)
}  # fmt: skip
