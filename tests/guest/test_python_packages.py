"""Each package of the library pack does the job people have it for."""

from __future__ import annotations

import io
import zipfile

import pytest

from nova_desktop.model import Language
from nova_desktop.sandbox.wasm.runtime import WasmRuntime
from tests.guest.conftest import Programs

NAMES = {
    "beautifulsoup4", "charset-normalizer", "defusedxml", "et_xmlfile", "jinja2", "markdown",
    "markupsafe", "openpyxl", "pygal", "pypdf", "python-dateutil", "soupsieve", "tabulate",
    "typing_extensions", "tzdata", "xlsxwriter",
}  # fmt: skip


def test_manifest_lists_the_packages_that_programs_find(
    python: Programs, wasm_runtime: WasmRuntime
) -> None:
    listed = {p["name"].lower(): p["version"] for p in wasm_runtime.guests.manifest["packages"]}
    assert set(listed) == NAMES
    assert all(p["licence"] and p["summary"] for p in wasm_runtime.guests.manifest["packages"])
    ran = python(
        "import importlib.metadata as m\n"
        "for d in m.distributions(): print(d.metadata['Name'].lower(), d.version)",
        check=True,
    )
    assert dict(line.split() for line in ran.stdout.splitlines()) == listed


def test_licences_travel_with_the_packages(wasm_runtime: WasmRuntime) -> None:
    content = wasm_runtime.guests.read_only_files(Language.PYTHON)["/usr/lib/python3-packages.zip"]
    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    folders = {name.split("/")[0] for name in names if ".dist-info/" in name}
    licensed = {
        name.split("/")[0]
        for name in names
        if ".dist-info/" in name and any(word in name.lower() for word in ("licen", "copying"))
    }
    assert len(folders) == len(NAMES)
    assert folders - licensed == set()


def test_openpyxl_writes_and_reads_a_workbook_with_a_chart(python: Programs) -> None:
    ran = python(
        """
        import openpyxl
        from openpyxl.chart import BarChart, Reference
        from openpyxl.styles import Font
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.title = 'Summe'
        for row in [('a', 'b'), (1, 2.5), (3, '=A2*2')]:
            sheet.append(row)
        sheet['A1'].font = Font(bold=True)
        chart = BarChart()
        chart.add_data(Reference(sheet, min_col=1, min_row=1, max_row=3), titles_from_data=True)
        sheet.add_chart(chart, 'D1')
        book.save('x.xlsx')
        again = openpyxl.load_workbook('x.xlsx')['Summe']
        print([[cell.value for cell in row] for row in again.iter_rows()], again['A1'].font.bold)
        """,
        check=True,
    )
    assert ran.stdout == "[['a', 'b'], [1, 2.5], [3, '=A2*2']] True\n"
    names = zipfile.ZipFile(io.BytesIO(ran.files["x.xlsx"])).namelist()
    assert "xl/charts/chart1.xml" in names


def test_xlsxwriter_writes_what_openpyxl_reads(python: Programs) -> None:
    ran = python(
        """
        import openpyxl, xlsxwriter
        with xlsxwriter.Workbook('y.xlsx') as book:
            sheet = book.add_worksheet('T')
            sheet.write(0, 0, 'head', book.add_format({'bold': True}))
            sheet.write_row(1, 0, [1, 2, 3])
            sheet.write_formula('A3', '=SUM(A2:C2)')
            chart = book.add_chart({'type': 'line'})
            chart.add_series({'values': '=T!$A$2:$C$2'})
            sheet.insert_chart('E2', chart)
        print([cell.value for cell in openpyxl.load_workbook('y.xlsx')['T'][2]])
        """,
        check=True,
    )
    assert ran.stdout == "[1, 2, 3]\n"


def test_pypdf_makes_merges_encrypts_and_extracts(python: Programs) -> None:
    ran = python(
        """
        from pypdf import PdfReader, PdfWriter
        from pypdf.generic import DictionaryObject as Dict, NameObject as Name, StreamObject

        def page(writer, text):
            made = writer.add_blank_page(200, 200)
            font = Dict({Name('/Type'): Name('/Font'), Name('/Subtype'): Name('/Type1'),
                         Name('/BaseFont'): Name('/Helvetica')})
            fonts = Dict({Name('/F1'): writer._add_object(font)})
            made[Name('/Resources')] = Dict({Name('/Font'): fonts})
            stream = StreamObject()
            stream.set_data(b'BT /F1 12 Tf 20 100 Td (' + text.encode() + b') Tj ET')
            made[Name('/Contents')] = writer._add_object(stream)

        writer = PdfWriter()
        page(writer, 'Hello one')
        page(writer, 'Page two')
        writer.write('a.pdf')
        merged = PdfWriter()
        merged.append('a.pdf')
        merged.append('a.pdf', pages=(0, 1))
        merged.encrypt('secret', algorithm='RC4-128')
        merged.write('m.pdf')
        reader = PdfReader('m.pdf')
        print(reader.is_encrypted, reader.decrypt('secret') > 0)
        print([page.extract_text() for page in reader.pages])
        """,
        check=True,
    )
    assert ran.stdout == "True True\n['Hello one', 'Page two', 'Hello one']\n"


def test_dateutil_parses_adds_repeats_and_knows_zones(python: Programs) -> None:
    ran = python(
        """
        import datetime
        from dateutil import easter, parser, relativedelta, rrule, tz
        print(parser.parse('3 March 2026 14:05'))
        print(parser.parse('2026-01-31') + relativedelta.relativedelta(months=1))
        start = datetime.datetime(2026, 1, 1)
        print([d.month for d in rrule.rrule(rrule.MONTHLY, count=3, dtstart=start)])
        print(tz.gettz('Europe/Berlin').utcoffset(datetime.datetime(2026, 7, 1)))
        print(easter.easter(2026))
        """,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "2026-03-03 14:05:00",
        "2026-02-28 00:00:00",
        "[1, 2, 3]",
        "2:00:00",
        "2026-04-05",
    ]


def test_tabulate_draws_a_table(python: Programs) -> None:
    ran = python(
        "from tabulate import tabulate\n"
        "print(tabulate([['a', 1]], headers=['n', 'v'], tablefmt='github'))",
        check=True,
    )
    assert ran.stdout == "| n   |   v |\n|-----|-----|\n| a   |   1 |\n"


def test_jinja2_renders_inherits_and_escapes(python: Programs) -> None:
    ran = python(
        """
        import asyncio, jinja2
        from markupsafe import Markup, escape
        environment = jinja2.Environment(loader=jinja2.FileSystemLoader('t'), autoescape=True)
        print(environment.get_template('page.html').render(x='<i>', items=[1, 2]))
        print(escape('<a>') + Markup('<b>'))
        again = jinja2.Environment(enable_async=True).from_string('{{ 1 + 1 }}')
        print(asyncio.run(again.render_async()))
        jinja2.Template('{{ missing.attribute }}').render()
        """,
        files={
            "t/base.html": "<h1>{% block c %}{% endblock %}</h1>",
            "t/page.html": "{% extends 'base.html' %}{% block c %}{{ x }}"
            "{% for i in items %}{{ i }},{% endfor %}{% endblock %}",
        },
    )
    assert ran.stdout == "<h1>&lt;i&gt;1,2,</h1>\n&lt;a&gt;<b>\n2\n"
    assert ran.stderr.endswith("jinja2.exceptions.UndefinedError: 'missing' is undefined\n")


def test_markdown_with_its_extensions(python: Programs) -> None:
    ran = python(
        """
        import markdown
        text = '# T\\n\\n|a|b|\\n|-|-|\\n|1|2|\\n\\n```py\\nx\\n```\\n'
        print(markdown.markdown(text, extensions=['tables', 'fenced_code', 'toc', 'footnotes']))
        """,
        check=True,
    )
    assert '<h1 id="t">T</h1>' in ran.stdout
    assert "<td>2</td>" in ran.stdout
    assert '<code class="language-py">' in ran.stdout


def test_beautiful_soup_with_selectors(python: Programs) -> None:
    ran = python(
        """
        from bs4 import BeautifulSoup
        soup = BeautifulSoup("<p class=x>a<b>c</b></p><a href='/u'>l</a>", 'html.parser')
        print(soup.p.text, soup.select_one('p.x > b').text, [a['href'] for a in soup('a')])
        print(soup.select('p:has(b)')[0].name)
        try:
            BeautifulSoup('<a/>', 'lxml')
        except Exception as error:
            print(type(error).__name__)
        """,
        check=True,
    )
    assert ran.stdout == "ac c ['/u']\np\nFeatureNotFound\n"


def test_defusedxml_refuses_entities(python: Programs) -> None:
    ran = python(
        """
        import defusedxml.ElementTree as tree
        print(tree.fromstring('<a><b/></a>')[0].tag)
        tree.fromstring('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>')
        """
    )
    assert ran.stdout == "b\n"
    assert "EntitiesForbidden" in ran.stderr


def test_charset_normalizer_guesses(python: Programs) -> None:
    ran = python(
        "from charset_normalizer import from_bytes\n"
        "text = 'Привет, как дела? Это проверка кодировки.'\n"
        "print(str(from_bytes(text.encode('cp1251')).best()) == text)",
        check=True,
    )
    assert ran.stdout == "True\n"


@pytest.mark.parametrize("kind", ["Bar", "Line", "Pie", "StackedBar", "Radar", "Box", "Treemap"])
def test_pygal_draws_a_chart_as_svg(python: Programs, kind: str) -> None:
    ran = python(
        f"""
        import pygal
        chart = pygal.{kind}(title='Größe')
        chart.add('first', [1, 2, 3])
        chart.render_to_file('chart.svg')
        """,
        check=True,
    )
    svg = ran.files["chart.svg"].decode()
    assert svg.startswith("<?xml version='1.0' encoding='utf-8'?>\n<svg")
    assert "Größe" in svg
    assert "first" in svg


def test_typing_extensions_imports(python: Programs) -> None:
    python("from typing_extensions import Self, TypedDict, override, deprecated", check=True)


def test_unused_packages_cost_nothing(python: Programs) -> None:
    ran = python(
        "import sys\nprint([m for m in sys.modules if m.split('.')[0] in "
        "('openpyxl', 'pypdf', 'jinja2', 'bs4', 'tzdata')])",
        check=True,
    )
    assert ran.stdout == "[]\n"
