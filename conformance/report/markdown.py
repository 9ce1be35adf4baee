"""A Report as GitHub-flavoured Markdown, for a job summary, an issue or a repository's page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from conformance.report.model import TEMPLATES, Block, Report, Section, cells_in, web
from conformance.text import in_line, printable

MOST = 900_000
"""Characters of blocks after which the rest is counted: a job summary holds a megabyte."""
BLOCKS = {"changes": "change.md", "findings": "finding.md"}
"""What writes the blocks of these sections."""
LINES = 100
"""How many lines of a section are written."""
LONGEST = 100
"""Characters of a value that stand in a list of changes."""
SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~&@$]|:(?=\S)|(?<=www)\.")


class Safe(str):
    """Markdown of ours: it is written as it is, and every other text is escaped."""

    __slots__ = ()


def write(report: Report) -> str:
    """The document as text. All text that is not ours is escaped, or stands in code."""
    environment = _environment()
    counts_first = sorted(report.sections, key=lambda section: section.kind != "counts")
    sections = list(_told([section for section in counts_first if section.brief], environment))
    page = environment.get_template("report.md")
    word, verdict = Safe(report.word or ""), Safe(report.verdict_text)
    text = page.render(report=report, sections=sections, lines=LINES, word=word, verdict=verdict)
    return f"{text}\n"


@lru_cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Safe) else escaped(value),
    )
    environment.filters.update(code=code, fenced=fenced, address=address, web=web)
    return environment


def _told(
    sections: Iterable[Section], environment: Environment
) -> Iterator[tuple[Section, Safe, int]]:
    """Each section, its blocks as far as there is room, and how many of its cells are left out."""
    room = MOST
    for section in sections:
        changes = section.kind == "changes"
        template = environment.get_template(BLOCKS.get(section.kind, "block.md"))
        written, left, above = [], 0, ("", "")
        for _, alike in groupby(section.blocks, _what_changed if changes else id):
            blocks = list(alike)
            head = blocks[0].cause, blocks[0].explanation
            given = {"block": blocks[0], "blocks": blocks, "begins": head != above}
            text = template.render(given, longest=LONGEST) if room > 0 else ""
            room -= len(text)
            if room > 0:
                written.append(text)
            else:
                left += cells_in(blocks)
            above = head
        yield section, Safe("".join(written)), left


def _what_changed(block: Block) -> object:
    """What blocks share that are told as one change."""
    return block.cause, block.explanation, block.label, block.where, block.title, block.facts


def escaped(text: object) -> Safe:
    """Text in which nothing is markup, wherever it stands: each special character is an entity."""
    return Safe(SPECIAL.sub(lambda found: f"&#{ord(found.group())};", printable(text)))


def code(text: object, limit: int | None = None) -> Safe:
    """Text in which nothing is markup, shown as code: nobody is mentioned in it either."""
    shown = printable(text)
    if limit is not None and len(shown) > limit:
        shown = f"{shown[: limit - 3]}..."
    return Safe(f"<code>{escaped(shown)}</code>")


def address(link: str) -> Safe:
    """A link's end, from which no markup can begin."""
    return Safe(quote(printable(link), safe="/:#?&=%~+,;@.-_"))


def fenced(lines: Iterable[str], language: str) -> Safe:
    """Lines in a code block that none of them can end."""
    text = "\n".join(map(in_line, lines))
    fence = "`" * max(3, max(map(len, re.findall("`+", text)), default=0) + 1)
    return Safe(f"{fence}{language}\n{text}\n{fence}")
