"""report.html in a browser: what a person can do with it, by pointer and by keyboard, in both themes and on a phone."""

from __future__ import annotations

import base64
import importlib.util
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import report_data

from proofs_check import report_html

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
CLAIMS = 48
# the worst contrast of visible text with what is behind it, after WCAG 2: [ratio, text]
CONTRAST = """
const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const parse = (text) => text.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const behind = (element) => {
  for (let node = element; node; node = node.parentElement) {
    const colour = parse(getComputedStyle(node).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
    if (colour[3] > 0) throw new Error("half transparent background");
  }
  return [255, 255, 255];
};
let worst = [99, ""], seen = 0;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement, said = walker.currentNode.data.trim();
  if (!said || !element.checkVisibility() || ["SCRIPT", "STYLE", "OPTION", "title"].includes(element.tagName)) continue;
  const style = getComputedStyle(element);
  if (style.opacity !== "1") throw new Error("half transparent text");
  const front = light(parse(element.ownerSVGElement ? style.fill : style.color)), back = light(behind(element));
  const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
  seen += 1;
  if (!(ratio >= worst[0])) worst = [ratio, said];
}
return [...worst, seen];
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory) -> Iterator:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    service = shutil.which("chromedriver")
    if not (browser and service and importlib.util.find_spec("selenium")):
        pytest.skip(
            "needs chromium and chromedriver (on Debian: apt-get install chromium chromium-driver) and selenium"
        )
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(service))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    out = tmp_path_factory.mktemp("report") / "run"
    report_data.stored_run(out)
    return report_html.write(out).as_uri()


@pytest.fixture
def page(driver, address: str) -> Iterator:
    """The page freshly opened on a desk, light; afterwards the console is empty and only the file was asked for."""
    media(driver, "light")
    size(driver, 1200, 900)
    driver.get("about:blank")
    driver.get_log("browser")
    driver.get_log("performance")
    driver.get(address)
    driver.execute_script("try { localStorage.clear(); } catch {}")
    yield driver
    assert driver.get_log("browser") == []
    asked = requests(driver)
    assert asked and [url for url in asked if not url.startswith(("file:", "data:", "about:"))] == []
    assert driver.execute_script("return document.documentElement.dataset.taken") is None


def requests(driver) -> list[str]:
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]


def media(driver, scheme: str, kind: str = "screen") -> None:
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"media": kind, "features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )


def size(driver, width: int, height: int) -> None:
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
    )


def js(driver, body: str, *arguments: object):
    return driver.execute_script(body, *arguments)


def element(driver, selector: str):
    return driver.find_element("css selector", selector)


def rows(driver) -> list[str]:
    return js(
        driver, "return [...document.querySelectorAll('#table tbody tr:not([hidden])')].map((row) => row.dataset.claim)"
    )


def choose(driver, field: str, value: str) -> None:
    from selenium.webdriver.support.ui import Select

    Select(element(driver, f"#{field}")).select_by_visible_text(value)


def wait(driver):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, 30)


def reset(driver) -> None:
    """Clear the filters; the page shows its rows again once the form has been emptied."""
    element(driver, ".filters button[type=reset]").click()
    wait(driver).until(lambda page: len(rows(page)) == CLAIMS)


def follow(driver, address: str, name: str) -> None:
    driver.get("about:blank")
    driver.get(f"{address}#{name}")


def test_filters_and_search_leave_what_fits_and_say_how_many(page) -> None:
    assert len(rows(page)) == CLAIMS and element(page, "#count").text == f"{CLAIMS} of {CLAIMS} claims"
    choose(page, "family", "own")
    assert (
        rows(page) == ["BASE", "USER", "WRONG", "top-", "HOSTILE"]
        and element(page, "#count").text == f"5 of {CLAIMS} claims"
    )
    choose(page, "headline", "REFUTED")
    assert (
        rows(page) == ["WRONG"] and not element(page, "#G1").is_displayed() and element(page, "#WRONG").is_displayed()
    )
    reset(page)
    choose(page, "grade", "exact")
    assert {"BASE", "G1"} & set(rows(page)) == {"BASE"}
    reset(page)
    element(page, "#query").send_keys("RoPE sink")
    assert (
        "G6" in rows(page)
        and "C0" not in rows(page)
        and element(page, "#count").text == f"{len(rows(page))} of {CLAIMS} claims"
    )
    element(page, "#query").send_keys(" no such word")
    assert rows(page) == [] and element(page, "#none").is_displayed()
    assert js(page, "return document.getElementById('count').getAttribute('aria-live')") == "polite"


def test_a_deep_link_opens_its_claim_and_takes_the_keyboard_there(page, address: str) -> None:
    for name in ("G1", "C13", "top-"):
        follow(page, address, name)
        opened = js(page, "return [...document.querySelectorAll('details.claim[open]')].map((item) => item.id)")
        top = js(page, "return document.getElementById(arguments[0]).getBoundingClientRect().top", name)
        assert (
            opened == [name]
            and js(page, "return document.activeElement.closest('details').id") == name
            and -1 <= top < 100
        )
    follow(page, address, "trust")
    assert js(page, "return document.querySelectorAll('details[open]').length") == 0


def test_a_link_in_table_or_graph_opens_the_claim_again_and_through_a_filter(page) -> None:
    page.get(page.current_url.split("#")[0] + "#G1")
    js(page, "document.getElementById('G1').open = false")
    element(page, "#table a[href='#G1']").click()
    assert js(page, "return document.getElementById('G1').open")
    choose(page, "family", "costs")
    element(page, ".graph a[data-node=USER] text").click()
    assert js(page, "return document.getElementById('USER').open") and element(page, "#USER").is_displayed()
    assert len(rows(page)) == CLAIMS


def test_columns_sort_both_ways_and_say_so(page) -> None:
    button = element(page, ".sort[data-column='1']")
    button.click()
    assert rows(page)[:5] == ["BASE", "USER", "top-", "HOSTILE", "WRONG"]
    assert js(page, "return document.querySelectorAll('th[aria-sort]').length") == 1
    button.click()
    assert (
        rows(page)[-1] == "BASE"
        and js(page, "return arguments[0].closest('th').getAttribute('aria-sort')", button) == "descending"
    )
    element(page, ".sort[data-column='0']").click()
    assert rows(page)[:2] == ["G1", "G2"]


def tabbed(driver, times: int) -> set[str]:
    """What the next presses of Tab reach."""
    from selenium.webdriver.common.keys import Keys

    reached = set()
    for _ in range(times):
        driver.switch_to.active_element.send_keys(Keys.TAB)
        reached.add(
            js(
                driver,
                "const a = document.activeElement;"
                "return a.id || a.dataset.node || a.getAttribute('href') || a.tagName",
            )
        )
    return reached


def test_the_keyboard_alone_gets_everywhere(page) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    body = page.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    assert js(page, "return document.activeElement.className") == "skip"
    outline = js(
        page, "const s = getComputedStyle(document.activeElement); return [s.outlineStyle, parseFloat(s.outlineWidth)]"
    )
    assert outline[0] == "solid" and outline[1] >= 2
    reached = tabbed(page, 20)
    assert {"theme", "query", "family", "headline", "grade", "#G1"} <= reached
    js(page, "document.querySelector('#table a[href=\"#HOSTILE\"]').focus()")
    assert {"G1", "G2", "G3"} <= tabbed(page, 8)  # the graph's boxes
    summary = element(page, "#G1 > summary")
    summary.send_keys(Keys.ENTER)
    assert js(page, "return document.getElementById('G1').open")


def test_dark_follows_the_system_until_the_button_decides(page) -> None:
    paper = "return getComputedStyle(document.body).backgroundColor"
    pressed = "return document.getElementById('theme').getAttribute('aria-pressed')"
    light = js(page, paper)
    media(page, "dark")
    wait(page).until(lambda shown: js(shown, pressed) == "true")  # a listener told by the browser, not at once
    dark = js(page, paper)
    assert dark != light
    element(page, "#theme").click()
    assert js(page, paper) == light
    media(page, "light")
    element(page, "#theme").click()
    assert js(page, paper) == dark
    js(page, "try { localStorage.clear(); } catch {}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(page, scheme: str) -> None:
    media(page, scheme)
    for name in ("C8", "G4", "HOSTILE", "WRONG", "USER"):
        js(
            page,
            "const claim = document.getElementById(arguments[0]);"
            "for (const item of [claim, ...claim.querySelectorAll('details')]) item.open = true;",
            name,
        )
    js(page, "document.querySelectorAll('.aside').forEach((item) => { item.open = true; })")
    ratio, text, seen = js(page, CONTRAST)
    assert seen > 1000 and ratio >= 4.5, text
    js(page, "document.querySelector('#USER .statement').style.setProperty('color', 'var(--rule)')")
    ratio, text, _ = js(page, CONTRAST)
    assert ratio < 2 and text in ("x = y", "2", "is at least")  # the measure sees text in the colour of rules


def test_on_a_phone_nothing_is_wider_than_the_screen(page) -> None:
    size(page, 390, 800)
    page.refresh()
    js(
        page,
        "for (const item of document.querySelectorAll('#G1, #G1 details, #C8, #C8 details, #C3, #HOSTILE, #HOSTILE "
        "details'))item.open = true;",
    )
    assert js(page, "return document.documentElement.scrollWidth") <= 390
    assert js(page, "return getComputedStyle(document.querySelector('.verdicts td.wide')).display") == "none"


def test_formulas_are_drawn_with_the_pages_own_font(page, address: str) -> None:
    follow(page, address, "C5")
    js(page, "document.querySelectorAll('#C5 details').forEach((item) => { item.open = true; })")
    assert page.execute_async_script(
        "document.fonts.ready.then(() => arguments[0]([...document.fonts].map((font) => font.status)))"
    ) == ["loaded"]
    # a bracket grows with the fraction in it, and an index hangs below its letter: the MATH table is in use
    low = js(page, "const m = [...document.querySelectorAll('#C5 msub')].find((item) => item.checkVisibility());"
                   "const box = (i) => m.children[i].getBoundingClientRect(); return [box(0).bottom, box(1).bottom]")
    assert low[1] > low[0]
    grown = js(
        page,
        "const high = (item) => item.getBoundingClientRect().height, first = (f) => f.parentElement.firstElementChild;"
        "return [...document.querySelectorAll('#C5 mfrac')]"
        ".filter((f) => f.checkVisibility() && first(f).textContent === '(').map((f) => high(first(f)) / high(f))",
    )
    assert all(ratio > 0.8 for ratio in grown)


def test_formulas_can_be_read_as_the_kernel_reads_them(page, address: str) -> None:
    follow(page, address, "G4")
    seen = (
        "return [...document.querySelectorAll('#G4 .formula .text')]"
        ".filter((item) => item.checkVisibility()).map((item) => item.textContent)"
    )
    assert js(page, seen) == []
    element(page, "#plain").click()
    assert "all(sigma * dot(x[s], x[i]) > 0 for i in Q)" in js(page, seen)
    assert js(page, "return document.querySelector('#G4 math').checkVisibility()") is False


def test_paper_shows_every_claim_and_the_screen_is_as_before(page) -> None:
    js(page, "for (const item of document.querySelectorAll('details.claim:not(#G1, #BASE)')) item.remove();")
    with_g1 = sheets(page)
    js(page, "document.getElementById('G1').replaceChildren()")
    assert with_g1 > sheets(page) + 3  # nobody opened G1, and paper has its many parts
    js(page, "dispatchEvent(new Event('beforeprint'))")
    assert js(page, "return document.querySelectorAll('details:not([open])').length") == 0
    js(page, "dispatchEvent(new Event('afterprint'))")
    assert js(page, "return document.querySelectorAll('details[open]').length") == 0
    media(page, "dark", "print")
    assert js(page, "return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def sheets(driver) -> int:
    pdf = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    return pdf.count(b"/Type /Page") - pdf.count(b"/Type /Pages")


def test_a_screen_reader_finds_landmarks_names_and_table_heads(page) -> None:
    nodes = page.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    said = {
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node.get("ignored") and "role" in node
    }
    roles = {role for role, _ in said}
    assert {
        "main",
        "banner",
        "navigation",
        "contentinfo",
        "search",
        "status",
        "columnheader",
        "rowheader",
        "table",
    } <= roles
    assert (
        ("region", "Verdicts") in said
        and ("navigation", "Sections") in said
        and ("table", "What is established, how strongly, and on what scope") in said
    )
    named = [name for role, name in said if role in ("button", "link", "searchbox", "combobox", "img")]
    assert named and all(named)
    assert any(name.startswith("USER: PROVED ON") and "uses BASE" in name for role, name in said if role == "link")


def test_without_scripts_the_page_is_still_read_and_shows_no_dead_controls(page, address: str) -> None:
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.get(address)
        assert element(page, "#table a[href='#G1']").is_displayed() and not element(page, "#query").is_displayed()
    finally:
        page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_a_request_or_a_message_on_the_console_would_be_seen(driver, tmp_path: Path) -> None:
    file = tmp_path / "asks.html"
    file.write_text(
        "<!doctype html><script>console.error('seen'); new Image().src = 'http://127.0.0.1:9/x.png';</script>"
    )
    driver.get_log("browser")
    driver.get_log("performance")
    driver.get(file.as_uri())
    assert "http://127.0.0.1:9/x.png" in requests(driver)
    assert any("seen" in entry["message"] for entry in driver.get_log("browser"))
