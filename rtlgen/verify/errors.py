"""Failures of simulation: refused inputs, and rules that the circuit broke."""

from __future__ import annotations

from rtlgen.errors import RtlgenError


class InputFileError(RtlgenError):
    """A file of inputs cannot be read, or a file of outputs cannot be written.

    `rtlgen run --inputs` takes a NumPy archive (.npz) with one array a C array and one integer a C
    scalar, under their C names:

        numpy.savez("in.npz", A=a, B=b, alpha=numpy.int32(3))
    """

    code = "E0420"


class MissingInputError(RtlgenError):
    """An array or scalar that the program reads was not given.

    Arrays that the program reads and scalar arguments must be given. An array that it only
    writes may be left out: it then starts as zeros, which stay where nothing is written.
    """

    code = "E0421"


class UnknownInputError(RtlgenError):
    """An input was given that the program does not have.

    The names are the C names of the parameters and globals, with upper and lower case told apart.
    Local arrays are not inputs. The message lists the names that there are.
    """

    code = "E0422"


class InputTypeError(RtlgenError):
    """An input has another shape or type than the C declaration, or a value out of its range.

    Nothing is converted silently: `int A[8][4]` takes a NumPy array of int32 with shape (8, 4).
    Convert before: `a.astype(numpy.int32).reshape(8, 4)`.
    """

    code = "E0423"


class HangError(RtlgenError):
    """The circuit did not raise `done` within the limit of cycles.

    The limit is four times the predicted cycles plus 1000, unless one was given. A generated
    circuit takes exactly the predicted cycles, so this is a bug of rtlgen, or the Verilog was
    changed. Record the signals with `--trace FILE.vcd` and look at the region counter.
    """

    code = "E0610"
    exit_code = 1


class UnknownOutputError(RtlgenError):
    """An output port was X or Z after reset, on a simulator that knows such values.

    Every output of a generated circuit is defined from the first reset on, whatever the memories
    hold, except that a host port may show anything in a run. An X means a register without a reset
    value, or a result that comes from memory that was never written.
    """

    code = "E0611"
    exit_code = 1


class ProtocolError(RtlgenError):
    """The circuit broke a rule of its control or host ports.

    `idle` is low from the cycle after start to the cycle of `done`, and high otherwise; `done` is
    high for one cycle; read data of a host port holds while its enable is low. The message names
    the rule and the cycle.
    """

    code = "E0612"
    exit_code = 1


class UnrepeatableError(RtlgenError):
    """The circuit gave different results for the same inputs in runs one after the other.

    Something survives from one run into the next: a register that is not set at start, or a local
    memory that is read before it is written.
    """

    code = "E0613"
    exit_code = 1


class MemoryRuleError(RtlgenError):
    """The circuit broke a rule of its port to the memory off chip.

    It holds a request until it is answered, asks for words that there are, asks for nothing while
    it is idle, and writes only elements of arrays that the program writes: no byte between the rows
    of an array, which belong to nobody, and none of an array that is only read. A generated circuit
    keeps these rules, so this is a bug of rtlgen, or the Verilog was changed. The message names the
    cycle of the run and the byte.

    Of an AXI4 port these are the rules of its channels: what is valid stays until it is taken, as
    it is; bursts are INCR, of 1 to 16 whole words inside of the memory, and cross no multiple of
    4096; `wlast` is with the last word of a burst; every answer has come before `done`.
    """

    code = "E0615"
    exit_code = 1


class MemoryAnswerError(RtlgenError):
    """The memory off chip answered with an error.

    Over AXI4 a memory, or what is between, may answer SLVERR or DECERR: no such address, no right
    to it, a bit that is broken. The circuit then asks for nothing more, waits for what is under
    way, and says `done` with its error port high; its arrays hold nothing of use. The next start is
    a new beginning. What is told is the first such answer, and where: the word that was read, or
    the first word of the burst that was written. Look at the address of the memory, and at who may
    use it.

    A memory, or a bridge before it, may also give answers that were not asked for: a word too many
    or too few of a burst, `rlast` with another word than its last one, an answer to a write that
    has had one. What comes then belongs to nothing, so every run ends with the error port high,
    until a reset. Record the port's signals with `--trace`: the memory is broken.
    """

    code = "E0616"
    exit_code = 1
