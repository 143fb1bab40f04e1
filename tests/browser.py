"""A real Chromium for tests of pages; ``pytest_plugins = ["tests.browser"]`` brings the fixture."""

from collections.abc import Iterator

import pytest
from screenshots import install_browser, start_browser
from selenium.webdriver import Chrome


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """Chromium, installed if that is possible; else the test is skipped and says why."""
    why_not = install_browser()
    if why_not:
        pytest.skip(why_not)
    driver = start_browser(tmp_path_factory.mktemp("browser profile"))
    yield driver
    driver.quit()
