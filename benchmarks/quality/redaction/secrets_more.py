# ruff: noqa: E501 - a frame broken over lines is harder to read than a long one
"""More made-up secrets and look-alikes, of kinds and in frames that ``secrets_bank`` does not have.

``LOOKED_AT`` and its ``ALIKE`` were counted once and then looked at: rules were mended by them.
``FRESH`` and ``FRESH_ALIKE`` were written after that, counted at 368f20d, and looked at then.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable

from stdnum import luhn
from stdnum.be import nn
from stdnum.iso7064 import mod_97_10
from stdnum.se import personnummer

from benchmarks.quality.redaction.secrets_alike import Alike
from benchmarks.quality.redaction.secrets_bank import (
    BASE62,
    DIGITS,
    HEX,
    LOWER,
    NAMES,
    SIGNS,
    UPPER,
    Made,
    Rng,
    human,
    mixed,
    of,
    put,
)

BASE32 = UPPER + "234567"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def in_notes(rng: Rng) -> Made:
    secret = mixed(rng, rng.randint(13, 19)) + rng.choice(SIGNS[:6]) + rng.choice(DIGITS)
    return put(rng, ("{v}\n{n}\n{s}", "{v} -> {n} {s}", "{n}, {v}: {s}"), secret)


def environment_file(rng: Rng) -> Made:
    frames = ("SMTP_PASS={s}", "export DJANGO_SECRET_KEY='{s}'", "SESSION_SECRET: {s}", "db_passwd = \"{s}\"",
              "REDIS_PASSWORD={s}\nPORT=6379")  # fmt: skip
    return put(rng, frames, mixed(rng, 22).replace("#", "x"))


def basic_header(rng: Rng) -> Made:
    told = base64.b64encode(f"{rng.choice(LOWER) * 4}:{human(rng)}".encode()).decode()
    return put(
        rng,
        ("Authorization: Basic {s}", "curl -H 'Authorization: Basic {s}' https://example.org/x"),
        told,
    )


def totp(rng: Rng) -> Made:
    secret = of(rng, BASE32, rng.choice((16, 32)))
    frames = (
        "otpauth://totp/{n}?secret={s}&issuer=Example",
        "otpauth://totp/Example:{n}?issuer=Example&secret={s}",
    )
    return put(rng, frames, secret)


def wireguard(rng: Rng) -> Made:
    key = base64.b64encode(rng.randbytes(32)).decode()
    return put(
        rng, ("[Interface]\nPrivateKey = {s}\nAddress = 10.0.0.2/32", "PresharedKey = {s}"), key
    )


def wallet_key(rng: Rng) -> Made:
    body = b"\x80" + rng.randbytes(32)
    body += hashlib.sha256(hashlib.sha256(body).digest()).digest()[:4]
    number, text = int.from_bytes(body, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = BASE58[digit] + text
    return put(rng, ("{s}", "paper wallet of {n} {s}", "import {s} into the wallet"), text)


def card_spoken(rng: Rng) -> Made:
    body = rng.choice(("4", "51", "2720")) + of(rng, DIGITS, 16)
    body = body[:15]
    number = body + luhn.calc_check_digit(body)
    grouped = " ".join(number[at : at + 4] for at in range(0, 16, 4))
    return put(
        rng,
        (
            "Card of {n} ends 11/29: {s}",
            "{n} gave me {s} for the deposit.",
            "tarjeta {s}",
            "pay it by {s} please",
        ),
        grouped,
    )


def citizen(rng: Rng) -> Made:
    if rng.random() < 0.5:
        birth = f"{rng.randint(50, 99)}{rng.randint(1, 12):02}{rng.randint(1, 28):02}{of(rng, DIGITS, 3)}"
        number = birth + luhn.calc_check_digit(birth)
        assert personnummer.is_valid(number)
        return put(
            rng, ("Personnummer: {s}", "Mitt personnummer är {s}."), f"{number[:6]}-{number[6:]}"
        )
    body = f"{rng.randint(50, 99)}{rng.randint(1, 12):02}{rng.randint(1, 28):02}{rng.randint(1, 997):03}"
    number = body + f"{97 - int(body) % 97:02}"
    assert nn.is_valid(number)
    return put(rng, ("Rijksregisternummer {s}", "My Belgian NN is {s}."), number)


def abroad(rng: Rng) -> Made:
    frames = ("Lösenordet till {v} är {s}.", "A senha do {v} é {s}.", "{v} şifresi {s}", "Hasło do {v} to {s}.",
              "Пароль от {v}: {s}", "パスワードは{s}です", "Adgangskoden er {s}.", "Salasana: {s}")  # fmt: skip
    return put(rng, frames, human(rng))


def spoken(rng: Rng) -> Made:
    frames = ("{v} pass is {s}", "pwd for {v} -> {s}", "I logged into {v}, pw was {s}.", "{n} told me the {v} password: it's {s}.",
              "New passphrase of {v} = {s}", "unlock the tablet, passcode {s}")  # fmt: skip
    return put(rng, frames, human(rng))


def confirming(rng: Rng) -> Made:
    frames = ("Enter {s} to finish signing in.", "Código de verificação: {s}", "Codice OTP {s} valido 5 minuti", "Your one-time passcode: {s}",
              "{s} is your Example account security code", "Use {s} to verify your phone.")  # fmt: skip
    return put(rng, frames, of(rng, DIGITS, 6))


def backup_codes(rng: Rng) -> Made:
    codes = [f"{of(rng, HEX, 5)}-{of(rng, HEX, 4)}1" for _ in range(4)]
    return put(rng, ("GitHub recovery codes\n{s}", "Backup codes for {v}:\n{s}"), "\n".join(codes))


def client_line(rng: Rng) -> Made:
    secret = mixed(rng, 14).replace("#", "x").replace("?", "y").replace("@", "z")
    frames = ("sftp://deploy:{s}@files.example.org/in", "Data Source=db;User ID=app;Pwd={s};", "db.example.org:5432:shop:app:{s}",
              "machine example.org login app password {s}", "mysql -u root -p{s} shop")  # fmt: skip
    return put(rng, frames, secret)


def session(rng: Rng) -> Made:
    frames = (
        "Cookie: sessionid={s}",
        "Set-Cookie: sid={s}; HttpOnly",
        "https://example.org/file?token={s}",
        "access_token={s}&expires_in=3600",
    )
    return put(rng, frames, of(rng, BASE62, 32))


def account(rng: Rng) -> Made:
    country, body = rng.choice(
        (
            ("FR", of(rng, DIGITS, 23)),
            ("NL", of(rng, UPPER, 4) + of(rng, DIGITS, 10)),
            ("CH", of(rng, DIGITS, 17)),
        )
    )
    code = country + mod_97_10.calc_check_digits(body + country) + body
    return put(rng, ("Refund to {s} please", "Konto {s}", "{n}: {s}"), code)


LOOKED_AT: dict[str, Callable[[Rng], Made]] = {
    one.__name__: one
    for one in (in_notes, environment_file, basic_header, totp, wireguard, wallet_key, card_spoken, citizen, abroad,
                spoken, confirming, backup_codes, client_line, session, account)
}  # fmt: skip


def _choice(name: str, texts: tuple[str, ...], fill: Callable[[Rng], str]) -> tuple[str, Alike]:
    return name, lambda rng: rng.choice(texts).format(fill(rng))


def _year(rng: Rng) -> str:
    return str(rng.randint(10, 2026))


ALIKE: dict[str, Alike] = dict(
    (
        _choice("account_names", ("I forgot the password for jonas{}.", "Reset the password of user anna_k{}.", "The password is kept in KeePass{}.",
                                  "Das Passwort liegt im Ordner Haus{}.", "Password must have at least {} characters."), _year),
        _choice("prices", ("It costs US${}.5Mio a year.", "A$1{}.20 for two", "50%OFF{}", "Umsatz: EUR {}Mio"), lambda rng: of(rng, DIGITS[1:], 2)),
        _choice("escaped", ("My%20File%20{}.Pdf", "Caf%C3%A9%20Plan%20V{}.docx", "name=Ana%20B{}&x=1"), lambda rng: of(rng, DIGITS, 2)),
        _choice("programs", ("if (x[0]!=Y{0}&&z) return", "import {{A1}} from '@scope/pkg{0}'", "npm i left-pad{0}@1.2.3", "g++ -std=c++17 -O{0}", "let a{0} = B1&0xFf"),
                lambda rng: of(rng, DIGITS[1:], 1)),
        _choice("tags", ("#WM2026Finale{} was fun", "#ThrowbackThursday{}", "PR#12ForV{}", "R&D2024 plan {}"), lambda rng: of(rng, DIGITS, 1)),
        _choice("products", ("The iPhone{}Pro is here", "RTX40{}Ti in stock", "SSID: FRITZ!Box75{}AX", "Bosch GSR18V-{}FC"), lambda rng: of(rng, DIGITS[1:], 2)),
        _choice("addresses", ("MAC aa:bb:cc:{0}:0E:1F", "fe80::1ff:fe23:45{0}:890a", "ip 10.0.0.{0}/24", "anna.K{0}@Mail2.org"), lambda rng: of(rng, DIGITS[1:], 2)),
        _choice("public_money", ("Donate to bc1q{} please", "tx 0x{}"), lambda rng: of(rng, HEX, 38)),
        _choice("works", ("doi:10.1000/Xyz{}a", "arXiv:2405.{}v2", "ISO/IEC 27001:{}", "§ {}a Abs. 2 BGB"), lambda rng: of(rng, DIGITS[1:], 4)),
        _choice("logs", ("2024-05-01T10:20:30Z worker-{} INFO ok", "pid={} rss=120MB", "GET /v1/items/{}?page=2 200", "build 7f3a{} passed"), lambda rng: of(rng, DIGITS[1:], 4)),
    )
)  # fmt: skip


# ---- fresh when they were counted first, at 368f20d ------------------------------------------------


def command_line(rng: Rng) -> Made:
    secret = mixed(rng, 14).replace("#", "x").replace("&", "y")
    frames = ("PGPASSWORD={s} psql shop", "docker login -u bob --password {s} registry.example.org", "psql 'host=db user=app password={s}'",
              "http://bob:{s}@10.0.0.3/admin", "sshpass -p {s} ssh app@example.org")  # fmt: skip
    return put(rng, frames, secret)


def service_account(rng: Rng) -> Made:
    body = of(rng, BASE62 + "+/", 128)
    return put(
        rng,
        (
            '{{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\n{s}\\n-----END PRIVATE KEY-----"}}',
        ),
        body,
    )


def secret_yaml(rng: Rng) -> Made:
    told = base64.b64encode(mixed(rng, 20).encode()).decode()
    return put(
        rng, ("kind: Secret\ndata:\n  password: {s}", "apiKey: {s}", "clientSecret: '{s}'"), told
    )


def neighbours(rng: Rng) -> Made:
    frames = ("Das neue Kennwort heißt {s}.", "Le mot de passe du wifi, c'est {s}.", "Het wachtwoord van {v} wordt {s}.", "La password di {v}: {s}",
              "Contraseña de {v} = {s}", "Password di rete: {s}")  # fmt: skip
    return put(rng, frames, human(rng))


def everyday(rng: Rng) -> Made:
    frames = ("My password on {v} has been {s} since May.", "password({v}) = {s}", "{v} password changed, now {s}", "For {v} we use the password {s}.",
              "Remember: {v} password - {s}", "the passcode of {n}'s tablet is {s}")  # fmt: skip
    return put(rng, frames, human(rng))


def texted_code(rng: Rng) -> Made:
    frames = ("{s} is your PayPal verification code", "WhatsApp code: {s}. Don't share it", "Your Lyft code is {s}", "Login code: {s}. Do not give this code to anyone.",
              "Dein Sicherheitscode: {s}", "Use {s} as your Microsoft account security code")  # fmt: skip
    return put(rng, frames, of(rng, DIGITS, 6))


def insured(rng: Rng) -> Made:
    body = "756" + of(rng, DIGITS, 9)
    check = (10 - sum(int(d) * (3 if at % 2 else 1) for at, d in enumerate(body)) % 10) % 10
    number = f"{body[:3]}.{body[3:7]}.{body[7:11]}.{body[11:]}{check}"
    return put(rng, ("SSN {s}", "My Swiss social security number is {s}."), number)


def pins_of(rng: Rng) -> Made:
    frames = (
        "PIN of the new phone: {s}",
        "Meine Karten-PIN: {s}",
        "SIM PIN is {s}",
        "The bank PIN is {s}.",
    )
    return put(rng, frames, of(rng, DIGITS, 4))


def other_card(rng: Rng) -> Made:
    body = rng.choice(("3530", "6212", "2223", "4000")) + of(rng, DIGITS, 11)
    number = body + luhn.calc_check_digit(body)
    return put(
        rng,
        ("{s} 08/28 {n}", "Kreditkarte: {s}", "Charge {s} for the room.", "card no. {s}"),
        number,
    )


def other_account(rng: Rng) -> Made:
    country, size = rng.choice((("AT", 16), ("BE", 12), ("PL", 24)))
    body = of(rng, DIGITS, size)
    code = country + mod_97_10.calc_check_digits(body + country) + body
    return put(
        rng,
        ("Pay {n}: {s}", "Miete an {s}", "account {s}, please"),
        " ".join(code[at : at + 4] for at in range(0, len(code), 4)),
    )


def unknown_service(rng: Rng) -> Made:
    secret = rng.choice(("acme_", "k-", "", "pk.")) + of(rng, BASE62, rng.randint(24, 44))
    return put(
        rng, ("{v} key {s}", "{s}", "x-api-key: {s}", "send it with {s} in the header"), secret
    )


def network(rng: Rng) -> Made:
    frames = (
        "SSID Casa, WPA2 key {s}",
        "Network: Casa\nPassword: {s}",
        "wifi {p}: Casa / pw {s}",
        "Guest wifi password {s}",
    )
    return put(rng, frames, rng.choice((human(rng), of(rng, HEX, 12) + "7a")))


def signed(rng: Rng) -> Made:
    frames = (
        "https://b.s3.example.org/a.pdf?X-Amz-Signature={s}",
        "https://example.org/reset?token={s}",
        "https://x.example.org/blob?sv=2023&sig={s}",
    )
    return put(rng, frames, of(rng, BASE62, 48))


FRESH: dict[str, Callable[[Rng], Made]] = {
    one.__name__: one
    for one in (command_line, service_account, secret_yaml, neighbours, everyday, texted_code, insured, pins_of, other_card,
                other_account, unknown_service, network, signed)
}  # fmt: skip

FRESH_ALIKE: dict[str, Alike] = dict(
    (
        _choice("formulas", ("=SUM(A1:B{0})&C3", "$E_{0}=mc^2$", "f(x)=3x^2+B{0}*z", "grep -E '^[A-Z]{{2}}\\d+$' a{0}.txt"), lambda rng: of(rng, DIGITS[1:], 1)),
        _choice("colours", ("Paint it #A1b2C{}", "rgba(12,{},9,0.5)", "RAL 70{} matt"), lambda rng: of(rng, DIGITS[1:], 1)),
        _choice("games", ("1.e4 e5 2.Nf3 Nc6 3.Bb{}", "Nf3xe{}+! wins", "Bayern 3:{} BVB"), lambda rng: of(rng, DIGITS[1:6], 1)),
        _choice("stars", ("P!nk & Ke$ha in 201{}", "A$AP Rocky at 2{}h", "Toys'R'Us #{}", "Blink-18{} on tour"), lambda rng: of(rng, DIGITS[1:], 1)),
        _choice("passes", ("The pass over the Alps is 2{}9m high.", "Her ski pass: {} days", "He can pass for 3{}.", "boarding pass, seat 1{}A"), lambda rng: of(rng, DIGITS[1:], 1)),
        _choice("hints", ("Password hint: first pet of {}", "{} changed all passwords in May 2024.", "The password manager of {} is called Bitwarden.", "No password for {} yet."), lambda rng: rng.choice(NAMES)),
        _choice("meetings", ("Zoom meeting ID: 812 3456 7{}", "Dial in +49 69 3807 9{}", "Conference room 4.{}"), lambda rng: of(rng, DIGITS, 3)),
        _choice("wrong_cards", ("Serial 4000 1234 5678 9{}", "Part no. 51{}2-8876-AB", "Counter 8{}4412"), lambda rng: of(rng, DIGITS, 3)),
        _choice("data", ("data-id='item{0}A'", "2024-05-01T0{0}:20:30+02:00", "v{0}.2.0-beta.{0}+build.77", "CVE-2024-{0}1234", "{0}f9d7a2 HEAD@{{{0}}}"), lambda rng: of(rng, DIGITS[1:], 1)),
        _choice("routes", ("LH20{0}/LH2042 via MUC", "ICE 5{0}9 Gleis 7a", "A{0}/E45 Ausfahrt 12b", "Bus M{0}9 to Mitte"), lambda rng: of(rng, DIGITS[1:], 1)),
    )
)  # fmt: skip
