"""What is set for pip reaches uv, the stronger place first."""

import pytest
from uv_settings import parse_settings, uv_environment, uv_flags

LISTING = r"""
:env:.disable-pip-version-check='1'
:env:.index-url='https://me:pass=word@strong.invalid/simple'
download.index-url='https://not.for.install.invalid'
global.cert='/etc/own.pem'
global.extra-index-url='\nhttps://b.invalid/simple\nfile:///c'
global.find-links='/wheels more'
global.index-url='https://weak.invalid'
global.proxy=''
install.index-url='https://middling.invalid'
install.trusted-host='b.invalid d.invalid:8080'
"""


def test_the_stronger_place_wins() -> None:
    weak, middling = "global.index-url='a'\n", "install.index-url='b'\n"
    assert parse_settings(weak) == {"index-url": "a"}
    assert parse_settings(middling + weak) == {"index-url": "b"}
    assert parse_settings(":env:.index-url='c'\n" + middling + weak) == {"index-url": "c"}


def test_every_way_to_the_index_is_passed_on() -> None:
    assert uv_environment(parse_settings(LISTING), {}) == {
        "SSL_CERT_FILE": "/etc/own.pem",
        "UV_EXTRA_INDEX_URL": "https://b.invalid/simple file:///c",
        "UV_FIND_LINKS": "/wheels,more",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_INDEX_URL": "https://me:pass=word@strong.invalid/simple",
        "UV_INSECURE_HOST": "b.invalid d.invalid:8080",
    }


def test_what_is_set_for_uv_stays() -> None:
    own = {"UV_INDEX_URL": "https://own.invalid", "HOME": "/home/me"}
    environment = uv_environment(parse_settings(LISTING), own)
    assert own.items() <= environment.items()


@pytest.mark.parametrize(
    ("listing", "flags"),
    [
        ("", []),
        ("global.no-index='false'", []),
        (":env:.no-index='1'", ["--no-index"]),
        ("install.no-index='True'", ["--no-index"]),
    ],
)
def test_without_an_index_uv_has_none_either(listing: str, flags: list[str]) -> None:
    assert uv_flags(parse_settings(listing)) == flags
