"""What a user can choose: every option described once, for command line, Python and documentation.

Nothing of the compiler is imported here, so that a command line is read, or refused, at once.
"""

from rtlgen.options.choices import (
    EVERY_ARRAY,
    EXPAND_MODES,
    FUSE_MODES,
    FUSIONS,
    INDEX_STYLES,
    POLICIES,
    SCHEDULERS,
    TOPS,
    WRITE_PORTS,
    BusKind,
    ExpandMode,
    FuseMode,
    Fusion,
    IndexStyle,
    LoopOptions,
    PartitionWish,
    Policy,
    Scheduler,
    Top,
    WritePorts,
    off_chip_place,
    wish_of,
)
from rtlgen.options.compile_options import Choices, CompileOptions, options
from rtlgen.options.option import Option
from rtlgen.options.texts import BadOption

__all__ = [
    "EVERY_ARRAY",
    "EXPAND_MODES",
    "FUSE_MODES",
    "FUSIONS",
    "INDEX_STYLES",
    "POLICIES",
    "SCHEDULERS",
    "TOPS",
    "WRITE_PORTS",
    "BadOption",
    "BusKind",
    "Choices",
    "CompileOptions",
    "ExpandMode",
    "FuseMode",
    "Fusion",
    "IndexStyle",
    "LoopOptions",
    "Option",
    "PartitionWish",
    "Policy",
    "Scheduler",
    "Top",
    "WritePorts",
    "off_chip_place",
    "options",
    "wish_of",
]
