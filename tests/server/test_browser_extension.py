"""The extension in a real browser, clicked in its toolbar, on forms of ours."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.extension import VALUES, Paired, filled, paired_with


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Paired]:
    """One for all tests that change no memory; each has a site of its own."""
    folder = tmp_path_factory.mktemp("browser")
    with paired_with(folder / "home", folder) as paired:
        yield paired


@pytest.fixture
def paired(shared: Paired) -> Iterator[Paired]:
    yield shared
    shared.close()


def test_an_address_is_shown_with_its_evidence_and_then_typed(paired: Paired):
    popup = paired.on("/address")
    rows = popup.rows()
    assert rows.keys() == {
        "First name",
        "Last name",
        "Street",
        "Town or city",
        "Postcode",
        "Country",
    }
    assert "I live at 12 Mill Road, Leeds" in rows["Postcode"] and "you said so" in rows["Postcode"]
    # Before the person accepts, the page has nothing: not a value, not an element, not an event.
    assert not any(value for name, value in paired.page(VALUES).items() if name != "note")
    assert "Mill Road" not in paired.page("document.documentElement.outerHTML")
    filled(popup)
    assert paired.page(VALUES) == {
        "first": "Iris", "last": "Berg", "street": "12 Mill Road", "city": "Leeds",
        "postcode": "LS1 4AB", "country": "GB", "note": "Ring twice.",
        "email2": "", "phone2": "", "hidden-last": "",
    }  # fmt: skip


def test_what_is_not_ticked_is_not_typed(paired: Paired):
    popup = paired.on("/address")
    popup.run("document.querySelector('#fields .row input').click()")
    filled(popup)
    assert paired.page(VALUES)["first"] == "" and paired.page(VALUES)["last"] == "Berg"


def test_a_sensitive_field_is_asked_for_once_for_a_site(paired: Paired):
    popup = paired.on("/visa")
    assert "X1234567" not in popup.run("document.documentElement.outerHTML")
    assert "sent to embassy.example" in popup.text() and "Frames" in popup.text()
    assert "Female" in popup.rows()["Gender"]  # the words of the choice, not its value
    popup.click("Allow here")
    popup.until("document.body.innerText.includes('X1234567')")
    filled(popup)
    values = paired.page(VALUES)
    assert (values["surname"], values["born"], values["passport"]) == (
        "Berg",
        "1990-03-14",
        "X1234567",
    )
    assert paired.page("document.querySelector('[name=sex]:checked')?.value") == "f"
    with paired.graph() as graph:
        (consent,) = graph.form_consents.list()
        assert (consent.field, consent.site, consent.given) == (
            "passport-number",
            "http://visa.example",
            True,
        )
    popup = paired.on("/visa", "other.example")  # another site, though it is sent to the same
    assert "X1234567" not in popup.text()
    popup.click("Never here")
    popup.until("!document.body.innerText.includes('Allow here')")
    assert "you refused it here" in popup.run("fields.textContent")


def test_a_framework_that_listens_hears_of_each_value(paired: Paired):
    filled(paired.on("/job"))
    paired.browser.page.wait_for_timeout(100)  # it draws anew from its state
    assert paired.page("state") == {
        "name": "Iris Berg", "mail": "iris@berg.example",
        "phone": "+44 7700 900123", "firm": "Acme",
    }  # fmt: skip
    assert paired.page("[...left].length") == 4


def test_a_checkout_in_steps_and_card_fields_by_permission(paired: Paired):
    popup = paired.on("/checkout")
    assert popup.rows().keys() == {"Email"}
    filled(popup)
    paired.close()
    paired.browser.page.click("#next")
    popup = paired.again()
    assert popup.rows().keys() == {"Payment card"}
    assert "4111" not in popup.run("document.documentElement.outerHTML")
    popup.click("Allow card fields here")
    popup.until("document.body.innerText.includes('Iris Berg')")
    assert "4111" not in popup.text()  # a card number is sensitive by itself as well
    popup.click("Allow here")
    popup.until("document.body.innerText.includes('4111')")
    filled(popup)
    values = paired.page(VALUES)
    assert values["holder"] == "Iris Berg" and "4111" in values["number"]
    assert (values["csc"], values["pw"], values["otp"]) == ("", "", "")
    assert "hunter22" not in popup.run("document.documentElement.outerHTML")


def test_shadow_trees_are_read_and_filled_too(paired: Paired):
    popup = paired.on("/intake")
    assert popup.rows().keys() >= {"Full name", "Date of birth", "Mobile phone"}
    assert "penicillin" not in popup.run("document.documentElement.outerHTML")
    popup.click("Allow here")
    popup.until("document.body.innerText.includes('penicillin')")
    filled(popup)
    heard = paired.page("heard")
    assert heard["who"] == "Iris Berg" and heard["dob"] and "penicillin" in heard["ill"]
    closed = "document.querySelector('closed-part').inner.querySelector('input').value"
    assert paired.page(closed) == "+44 7700 900123"
