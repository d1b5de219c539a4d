"""Preprocess C with pcpp, and keep for every token the place it has in the user's file.

pcpp keeps lines only. Here each token is marked with its position before macros are expanded;
what comes out without a mark is the result of a macro and gets the place of the macro's call.
"""

from __future__ import annotations

import io
import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import pcpp

from rtlgen.errors import Diagnostic, Label
from rtlgen.frontend.errors import (
    BadDefinition,
    CSyntaxError,
    FileUnreadable,
    FrontendError,
    IncludeNotFound,
    PreprocessorError,
    TooDeep,
    VendorHeader,
)
from rtlgen.frontend.text.constants import if_value
from rtlgen.frontend.text.headers import PREDEFINED, included, system_header
from rtlgen.frontend.text.pragmas import (
    GUIDE,
    HlsPragma,
    hls_pragma,
    instead_of,
    not_followed,
    wish,
)
from rtlgen.frontend.text.tokens import (
    LineTable,
    Origin,
    Token,
    adjacent,
    mark_results,
    open_comment,
    preprocessor_lexer,
    split,
    torn_token,
    words,
)
from rtlgen.source import SourceFile, Span

MAX_TOKENS = 100_000
MAX_CHARACTERS = 16 * MAX_TOKENS
MAX_BYTES = 4 * MAX_CHARACTERS
MAX_INCLUDE_DEPTH = 50
MAX_EXPANSION = 20_000
"""Tokens that one call of a macro may become."""

_REGION_PRAGMAS = ("scop", "endscop")
_NEEDS_NAME = ("define", "undef", "ifdef", "ifndef")
_NEEDS_ARGUMENT = ("if", "elif", "include")

_MACRO = re.compile(r"[A-Za-z_]\w*(\((\s*[A-Za-z_]\w*\s*(,\s*([A-Za-z_]\w*|\.{3})\s*)*)?\))?")

# What pcpp 1.30 raises on directives that it does not understand: it indexes token lists
# without looking at their length.
_PCPP_FAILURES = (IndexError, KeyError, AttributeError, TypeError, ValueError, AssertionError)


@dataclass(frozen=True, slots=True)
class Preprocessed:
    """The tokens of the program, and every file that they came from.

    Members
    -------
    headers: the system headers that it includes. unknown: those of which nothing is known.
    pragmas: those that ask for something that can be had.
    """

    tokens: tuple[Token, ...]
    headers: tuple[str, ...]
    unknown: tuple[str, ...]
    sources: Mapping[str, SourceFile]
    warnings: tuple[Diagnostic, ...]
    pragmas: tuple[HlsPragma, ...] = ()


def read_source(path: str) -> SourceFile:
    """Read one file.

    Raises
    ------
    FileUnreadable: it is missing, is not a file, is not UTF-8, or has a name that is no plain text.
    TooDeep: it is too large.
    """
    check_name(path)
    try:
        with open(path, "rb") as handle:
            content = handle.read(MAX_BYTES + 1)
        text = "" if len(content) > MAX_BYTES else content.decode("utf-8-sig")
    except OSError as error:
        raise FileUnreadable(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FileUnreadable(
            f"cannot read {path}: it is not UTF-8 text",
            notes=(f"byte {error.start} is 0x{error.object[error.start]:02x}",),
        ) from error
    if len(content) > MAX_BYTES or len(text) > MAX_CHARACTERS:
        raise TooDeep(f"{path} is larger than {MAX_CHARACTERS} characters")
    return SourceFile(path, text)


MAX_NEIGHBOURS = 100
"""Files beside a program that are looked into, at most."""


def file_that_defines(function: str, path: str) -> str | None:
    """Return the name of a C file beside a file in which a function has its text."""
    own = Path(path)
    head = rf"^[A-Za-z_][\w\s*]*[\s*]{re.escape(function)}\s*\([^;{{}}]*\)\s*\{{"
    files = sorted(own.parent.glob("*.c")) if own.is_file() else []
    for file in files[:MAX_NEIGHBOURS]:
        if file.name == own.name:
            continue
        try:
            text = read_source(str(file)).text
        except FrontendError:
            continue
        if re.search(head, text, re.MULTILINE):
            return file.name
    return None


def check_name(path: str) -> None:
    """Refuse a file name that cannot stand in a line of a report or of the Verilog.

    Raises
    ------
    FileUnreadable
    """
    if not path.isprintable():
        raise FileUnreadable(
            f"cannot read {path!a}: the name holds a character that cannot be printed",
            help="rename the file",
        )


def preprocess(
    main: SourceFile, defines: Mapping[str, str], include_dirs: Sequence[str]
) -> Preprocessed:
    """Return the tokens of `main` after preprocessing.

    Raises
    ------
    FrontendError: a directive, an include or a `-D` is wrong; its `sources` are set.
    """
    processor = _Preprocessor(main, include_dirs)
    try:
        for name, value in defines.items():
            processor.define_option(name, value)
        tokens = processor.run()
    except FrontendError as error:
        error.sources = dict(processor.sources)
        raise
    pragmas, not_understood = processor.pragmas(tokens)
    return Preprocessed(
        tokens,
        tuple(processor.headers),
        tuple(processor.unknown),
        dict(processor.sources),
        (*processor.warnings(defines), *not_understood),
        pragmas,
    )


class _Preprocessor(pcpp.Preprocessor):  # type: ignore[misc]
    """pcpp with marks on tokens, collected sources, and diagnostics instead of printing."""

    def __init__(self, main: SourceFile, include_dirs: Sequence[str]) -> None:
        super().__init__(preprocessor_lexer())
        # A guard that is undefined again lets its file in a second time.
        self.auto_pragma_once_enabled = False
        self.sources = {main.path: main}
        self._main = main
        self._main_path = os.path.abspath(main.path)
        self._lines = {self._main_path: LineTable(main.path, main.text)}
        self._expansion_depth = 0
        self._overridden: list[tuple[str, Span]] = []
        self._options: dict[str, str] = {}
        self._directive: Any = None
        self.headers: list[str] = []
        self.unknown: dict[str, Span] = {}
        self._pragmas: list[tuple[str, str, Span]] = []
        for directory in include_dirs:
            self.add_path(directory)
        # Tokens then name their file by its absolute path.
        self.rewrite_paths: list[tuple[str, str]] = []

    def define_option(self, name: str, value: str) -> None:
        """Define the macro of a `-D` option."""
        if not _MACRO.fullmatch(name) or "\n" in value:
            raise BadDefinition(
                f"-D {name}={value} defines no macro",
                help="write -D NAME=VALUE, where NAME is an identifier, or -D 'NAME(x)=VALUE'",
            )
        self.define(f"{name} {value}" if value else name)
        self._options[name.partition("(")[0]] = f"{name}={value}"

    def run(self) -> tuple[Token, ...]:
        """Return all tokens of the program."""
        self._check(self._main, self._main_path)
        try:
            self.parse(self._main.text, self._main.path)
            return tuple(self._tokens())
        except _PCPP_FAILURES as error:
            raise PreprocessorError(
                "the preprocessor cannot make sense of this directive",
                labels=self._directive_label("near here"),
            ) from error
        except RecursionError as error:
            raise TooDeep(
                "macros are nested too deeply", labels=self._directive_label("after this")
            ) from error

    def _check(self, source: SourceFile, path: str) -> None:
        """Refuse a text that would take long, or that pcpp would misread.

        Parameters
        ----------
        path: what pcpp calls the file.
        """
        if sum(1 for _ in islice(split(source.text), MAX_TOKENS + 1)) > MAX_TOKENS:
            raise TooDeep(f"{source.path} has more than {MAX_TOKENS} tokens")
        for name in sorted(words(source.text) & PREDEFINED.keys()):
            if name not in self.macros:
                self.define(f"{name} {PREDEFINED[name]}")
        torn = torn_token(source.text)
        if torn is not None:
            raise CSyntaxError(
                "a word or operator goes on in the next line",
                labels=(Label(self._lines[path].span(torn, 1), "the rest of it"),),
                help="break the line between two words",
            )
        start = open_comment(source.text)
        if start is not None:
            raise CSyntaxError(
                "the comment is not closed",
                labels=(Label(self._lines[path].span(start, 2), "begins here"),),
                help="close it with */",
            )

    def pragmas(
        self, tokens: Sequence[Token]
    ) -> tuple[tuple[HlsPragma, ...], tuple[Diagnostic, ...]]:
        """Return the pragmas that ask for what can be had, and warnings for the others."""
        found, warnings = [], []
        for text, wanted, span in self._pragmas:
            pragma = hls_pragma(text, span, tokens)
            if pragma is None or isinstance(pragma, str):
                warnings.append(not_followed(text, span, pragma or f"asks for {wanted}"))
            else:
                found.append(pragma)
        return tuple(found), tuple(warnings)

    def warnings(self, defines: Mapping[str, str]) -> Iterator[Diagnostic]:
        """Yield what a `-D` option or an include did not do."""
        for name, span in self._overridden:
            yield Diagnostic(
                "W0104",
                f"-D {self._options[name]} has no effect",
                (Label(span, "redefined here"),),
                help=f"guard the definition with #ifndef {name}",
                severity="warning",
            )
        for header, span in self.unknown.items():
            yield Diagnostic(
                "W0110",
                f"<{header}> is not known: nothing of it is declared",
                (Label(span, "left out"),),
                help="if something of it is needed, give the folder that holds it with -I DIR",
                severity="warning",
            )

    # Tokens out of pcpp's pieces.

    def _tokens(self) -> Iterator[Token]:
        """Cut pcpp's tokens into C tokens: `>>` `=` becomes `>>=`, a pragma becomes one token."""
        count = 0
        run: list[Any] = []
        pragma: list[Any] = []
        for piece in iter(self.token, None):
            if not hasattr(piece, "origin"):
                # Only lines that pcpp hands through unexpanded have no mark: pragmas.
                pragma.append(piece)
                if piece.type in self.t_WS and "\n" in piece.value:
                    yield from self._cut(run)
                    run = []
                    yield self._pragma(pragma)
                    pragma = []
                continue
            if piece.type in self.t_WS or not piece.value:
                yield from self._cut(run)
                run = []
                continue
            if run and not adjacent(run[-1], piece):
                yield from self._cut(run)
                run = []
            run.append(piece)
            count += 1
            if count > MAX_TOKENS:
                raise TooDeep(f"the program has more than {MAX_TOKENS} tokens")
        yield from self._cut(run)

    def _cut_all(self, pieces: list[Any]) -> Iterator[Token]:
        """Cut the pieces of one directive."""
        run: list[Any] = []
        for piece in pieces:
            if run and (piece.type in self.t_WS or not adjacent(run[-1], piece)):
                yield from self._cut(run)
                run = []
            if piece.type not in self.t_WS:
                run.append(piece)
        yield from self._cut(run)

    def _cut(self, run: list[Any]) -> Iterator[Token]:
        text = "".join(piece.value for piece in run)
        starts = []
        position = 0
        for piece in run:
            starts.append(position)
            position += len(piece.value)
        for offset, word in split(text):
            first = bisect_right(starts, offset) - 1
            origin: Origin = run[first].origin
            if not run[first].expanded_from and origin.length == len(run[first].value):
                skip = offset - starts[first]
                origin = Origin(origin.path, origin.offset + skip, len(word))
            yield Token(word, self._span(origin))

    def _pragma(self, pieces: list[Any]) -> Token:
        pieces = self.tokenstrip(pieces)
        last = pieces[-1]
        start = pieces[0].lexpos
        end = last.lexpos + len(last.value)
        text = "#pragma " + "".join(piece.value for piece in pieces[1:]).split(None, 1)[1].strip()
        return Token(text, self._span(Origin(pieces[0].source, start, end - start)))

    def _span(self, origin: Origin) -> Span:
        return self._lines[origin.path].span(origin.offset, origin.length)

    def _directive_label(self, text: str) -> tuple[Label, ...]:
        if self._directive is None:
            return ()
        return (Label(self._token_span(self._directive), text),)

    def _token_span(self, token: Any) -> Span:
        return self._span(Origin(token.source, token.lexpos, len(token.value)))

    # pcpp's hooks.

    def expand_macros(self, tokens: list[Any], expanding_from: Sequence[str] = ()) -> list[Any]:
        """Expand as pcpp does, and give every resulting token an `origin`."""
        outermost = self._expansion_depth == 0
        if outermost:
            for token in tokens:
                token.origin = Origin(token.source, token.lexpos, len(token.value))
            before = list(tokens)
        self._expansion_depth += 1
        expanded: list[Any] = super().expand_macros(tokens, list(expanding_from))
        self._expansion_depth -= 1
        limit = MAX_TOKENS if outermost else MAX_EXPANSION
        if sum(token.type not in self.t_WS for token in expanded) > limit:
            raise TooDeep(
                f"macros expand to more than {limit} tokens",
                labels=self._directive_label("after this"),
            )
        if outermost:
            mark_results(before, expanded)
        return expanded

    def evalexpr(self, tokens: list[Any]) -> tuple[int, None]:
        """Return the value of the expression of an `#if`; pcpp's own arithmetic is not C's."""
        tokens = self._defined_replaced(self.expand_macros(self._defined_replaced(tokens)))
        try:
            return if_value([token.text for token in self._cut_all(tokens)]), None
        except ValueError as error:
            raise PreprocessorError(
                f"the condition of #{self._directive.value} has no value",
                labels=self._directive_label("here"),
                notes=(str(error),),
            ) from None

    def _defined_replaced(self, tokens: list[Any]) -> list[Any]:
        """Replace `defined NAME` and `defined(NAME)`, whose name must not be expanded."""
        words = [token for token in tokens if token.type not in self.t_WS]
        kept = []
        at = 0
        while at < len(words):
            token = words[at]
            if token.type == self.t_ID and token.value == "defined":
                in_brackets = [w.value for w in words[at + 1 : at + 4 : 2]] == ["(", ")"]
                name = words[at + 2] if in_brackets else (words[at + 1 : at + 2] or [token])[0]
                if name is token or name.type != self.t_ID:
                    raise PreprocessorError(
                        "`defined` needs a name", labels=(Label(self._token_span(token)),)
                    )
                token = copy(token)
                token.type = self.t_INTEGER
                token.value = str(int(name.value in self.macros))
                at += 3 if in_brackets else 1
            kept.append(token)
            at += 1
        return kept

    def define(self, tokens: Any) -> None:
        """Define a macro, and note when it takes the place of a `-D` option."""
        if not isinstance(tokens, str) and tokens and tokens[0].value in self._options:
            self._overridden.append((tokens[0].value, self._token_span(tokens[0])))
        super().define(tokens)

    def include(self, tokens: list[Any], original_line: list[Any]) -> Iterator[Any]:
        """Include a file; a system header only defines its macros."""
        if tokens[0].value != "<" and tokens[0].type != self.t_STRING:
            tokens = self.tokenstrip(self.expand_macros(tokens))
        name = "".join(token.value for token in tokens).strip()
        header, is_quoted = name[1:-1], name[:1] == '"'
        if name in (f"<{header}>", f'"{header}"') and not self._is_found(header, is_quoted):
            if system_header(header) is not None:
                self._include_system_header(header)
                return
            instead = instead_of(header)
            if instead is not None:
                raise VendorHeader(
                    f"{header} is a header of a C++ tool, and this is C",
                    labels=self._directive_label("included here"),
                    notes=(f"{GUIDE} has an example for each of these headers",),
                    help=instead,
                )
            if not is_quoted:
                self.unknown[header] = self._token_span(self._directive)
                return
        if self.include_depth > MAX_INCLUDE_DEPTH:
            raise TooDeep(
                f"files include one another more than {MAX_INCLUDE_DEPTH} levels deep",
                labels=self._directive_label("included here"),
                help="guard the header with #ifndef, or with #pragma once",
            )
        yield from super().include(tokens, original_line)

    def _is_found(self, name: str, is_quoted: bool) -> bool:
        """Return whether the user has a file of that name where it is looked for."""
        folders = [*(self.temp_path if is_quoted else ()), *self.path]
        return any(os.path.isfile(os.path.join(folder, name)) for folder in folders)

    def _include_system_header(self, name: str) -> None:
        for inner in included((name,)):
            header = system_header(inner)
            if header is not None and inner not in self.headers:
                self.headers.append(inner)
                for macro in header.macros:
                    self.define(macro)

    def on_file_open(self, is_system_include: bool, includepath: str) -> io.StringIO:
        """Open an included file and remember its text."""
        if not os.path.isfile(includepath):
            raise FileNotFoundError(includepath)
        shown = includepath if os.path.isabs(self._main.path) else os.path.relpath(includepath)
        source = read_source(includepath)
        self.sources[shown] = SourceFile(shown, source.text)
        self._lines[includepath] = LineTable(shown, source.text)
        self._check(self.sources[shown], includepath)
        return io.StringIO(source.text)

    def on_include_not_found(
        self, is_malformed: bool, is_system_include: bool, curdir: str, includepath: str
    ) -> NoReturn:
        """Refuse the file."""
        if is_malformed:
            raise PreprocessorError(
                "#include is followed by no file name", labels=self._directive_label("here")
            )
        raise IncludeNotFound(
            f"{includepath} is not found",
            labels=self._directive_label("included here"),
            help="add the folder that holds it with -I DIR",
        )

    def on_directive_handle(
        self, directive: Any, toks: list[Any], ifpassthru: bool, precedingtoks: list[Any]
    ) -> bool:
        """Check that a directive has what pcpp takes for granted."""
        self._directive = directive
        self.lastdirective = directive
        name = directive.value
        if name == "pragma" and not toks:
            raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)
        if name in _NEEDS_NAME and not (toks and toks[0].type == self.t_ID):
            raise PreprocessorError(
                f"#{name} needs a name", labels=(Label(self._token_span(directive), ""),)
            )
        if name in _NEEDS_ARGUMENT and not toks:
            raise PreprocessorError(
                f"#{name} needs an argument", labels=(Label(self._token_span(directive), ""),)
            )
        return True

    def on_directive_unknown(
        self, directive: Any, toks: list[Any], ifpassthru: bool, precedingtoks: list[Any]
    ) -> bool | None:
        """Keep pragmas on regions and bounds, drop harmless directives, refuse the others."""
        text = "".join(token.value for token in toks).strip()
        name = directive.value
        if name == "pragma":
            if text in _REGION_PRAGMAS or text.split()[:2] == ["rtlgen", "bound"]:
                return None
            wanted = wish(text)
            if wanted is not None:
                end = toks[-1].lexpos + len(toks[-1].value)
                place = Origin(directive.source, directive.lexpos, end - directive.lexpos)
                self._pragmas.append((text, wanted, self._span(place)))
            return True
        if name in ("warning", "line", "ident") or name.isdigit():
            return True
        label = Label(self._token_span(directive), "")
        if name == "error":
            raise PreprocessorError(
                f"#error: {text}",
                labels=(label,),
                help="define what it asks for; what a compiler says of itself, too: -D __GNUC__=12",
            )
        raise PreprocessorError(f"unknown directive #{name}", labels=(label,))

    def on_error(self, file: str, line: int, msg: str) -> NoReturn:
        """Raise what pcpp would print."""
        table = self._lines.get(file)
        labels = (Label(table.line_span(line)),) if table and line >= 1 else ()
        raise PreprocessorError(msg[:1].lower() + msg[1:].strip(), labels=labels)
