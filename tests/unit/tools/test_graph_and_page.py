"""The graph of a module, its drawings, and the page of a run."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.tools import fhelium_opt
from fhelium_ir.tools.dot import quoted
from fhelium_ir.tools.ir_graph import Edge, Graph, Node, module_graph, readable_bytes
from fhelium_ir.tools.svg import svg_text
from fhelium_ir.universe import make_context
from tests.lit_files import ROOT

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), None)

VOID = {"meta", "br", "hr", "img", "input", "link"}
SVG = "{http://www.w3.org/2000/svg}"

PROGRAM = """
module attributes {ckks.params = #ckks.params<
  ring_degree = 64, q = [1152921504606844289, 1099511623297], p = [1152921504606844417],
  digits = 2, scale = 2**40, secret = ternary, insecure>} {
func.func @f(%x : !ckks.ciphertext, %y : !ckks.ciphertext) -> !ckks.ciphertext {
  %xy = ckks.mul %x, %y : !ckks.ciphertext
  %r = ckks.relinearize %xy : !ckks.ciphertext
  %s = ckks.rescale %r : !ckks.ciphertext
  return %s : !ckks.ciphertext
}
}
"""


class Page(HTMLParser):
    """Checks that tags are balanced, and collects tags, attributes and text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.errors: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.content: dict[str, list[str]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.errors.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        if self.open:
            self.content.setdefault(self.open[-1], []).append(data)


def parsed(html: str) -> Page:
    page = Page()
    page.feed(html)
    page.close()
    return page


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    (folder / "a<b>&.mlir").write_text(PROGRAM)
    out = folder / "page.html"
    arguments = [str(folder / "a<b>&.mlir"), "-p", "fhelium-default", "-t", "html", "-o", str(out)]
    assert fhelium_opt.main(arguments) == 0
    return out.read_text()


def test_the_page_is_balanced_and_stands_alone(page: str) -> None:
    found = parsed(page)
    assert found.errors == [] and found.open == []
    assert page.startswith("<!DOCTYPE html>")
    assert not {"script", "link", "img", "iframe", "a", "object", "base"} & set(found.tags)
    names = {name for name, _ in found.attributes}
    assert not {"src", "href", "action", "onclick", "onload"} & names
    links = [v for name, v in found.attributes if "://" in v and name != "xmlns"]
    assert links == []
    assert "url(" not in page and "@import" not in page
    assert "a<b>" not in page


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
def test_a_browser_renders_the_page(page: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page)
    assert BROWSER is not None
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.count("<section>") == page.count("<section>")
    assert "<svg" in done.stdout


def test_the_page_shows_every_stage_and_the_results(page: str) -> None:
    found = parsed(page)
    titles = found.content["h3"]
    passes = [spec.partition("{")[0] for spec in Pipeline.parse("fhelium-default").passes]
    assert [title.partition(": ")[2] for title in titles] == ["input", *passes]
    assert found.content["h2"] == ["Stages", "Region graph", "Requirements", "Kernels", "Remarks"]
    text = "".join(part for parts in found.content.values() for part in parts)
    assert "tl.load" in text, "the kernels are Triton text"
    cells = found.content["td"]
    assert "@relinearization_key" in cells and "moduli" in cells
    assert "svg" in found.tags
    assert any("lines added" in summary for summary in found.content["summary"])
    # Changed lines are marked, and only those.
    assert 0 < page.count('class="added"') < page.count("\n")


def test_the_drawing_is_xml_with_every_node_and_apart_boxes() -> None:
    context = make_context()
    module = parse_module(context, PROGRAM)
    Pipeline.parse("fhelium-default").until("plan-memory").run(context, module)
    graph = module_graph(module)
    root = ElementTree.fromstring(svg_text(graph))
    texts = [element.text for element in root.iter(f"{SVG}text")]
    for node in graph.nodes:
        assert node.label in texts
    assert len(graph.clusters) >= 2
    boxes: list[tuple[float, ...]] = []
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("rx") is not None:
            sides = (float(rect.get(n) or 0) for n in ("x", "y", "width", "height"))
            boxes.append(tuple(sides))
    for i, (x, y, w, h) in enumerate(boxes):
        for x2, y2, w2, h2 in boxes[:i]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y, "boxes overlap"
    width, height = float(root.get("width") or 0), float(root.get("height") or 0)
    assert all(x >= 0 and y >= 0 and x + w <= width and y + h <= height for x, y, w, h in boxes)


def test_edges_go_down() -> None:
    graph = Graph(
        [Node(name, None, "rns") for name in "abcd"],
        [],
        [Edge(0, 1, ""), Edge(1, 3, ""), Edge(0, 3, ""), Edge(2, 3, "")],
    )
    root = ElementTree.fromstring(svg_text(graph))
    y = [float(rect.get("y") or 0) for rect in root.iter(f"{SVG}rect")]
    assert y[0] < y[1] < y[3]
    assert y[2] == y[1], "what has no operands stands right above its user"


def test_an_empty_module_has_a_graph() -> None:
    assert svg_text(Graph()).startswith("<svg")


@pytest.mark.parametrize(
    "count, text",
    [(17, "17 bytes"), (2048, "2 KiB"), (1536, "1.5 KiB"), (3 << 20, "3 MiB"), (5 << 30, "5 GiB")],
)
def test_bytes_are_readable(count: int, text: str) -> None:
    assert readable_bytes(count) == text


def test_dot_strings_are_quoted() -> None:
    assert quoted('a"b\\c\n') == '"a\\"b\\\\c\\n"'


def test_loops_are_clusters_and_every_example_draws(capsys: pytest.CaptureFixture[str]) -> None:
    for path in sorted(Path(ROOT / "examples").glob("*.mlir")):
        assert fhelium_opt.main([str(path), "-t", "svg"]) == 0
        ElementTree.parse(io.StringIO(capsys.readouterr().out))
    text = """
    func.func @f(%n: index, %a: i32) -> i32 {
      %r = scf.for %i = %n to %n step %n iter_args(%s = %a) -> (i32) {
        %t = arith.addi %s, %s : i32
        scf.yield %t : i32
      }
      return %r : i32
    }
    """
    graph = module_graph(parse_module(make_context(), text))
    assert [cluster.label for cluster in graph.clusters] == ["scf.for"]
    inner = [node.label for node in graph.nodes if node.cluster == 0]
    assert inner == ["%t = arith.addi", "scf.yield"]
    assert re.search(r"%r = scf.for", graph.nodes[2].label)
