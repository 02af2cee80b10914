from .arguments import (
    ABSENT as ABSENT,
    DATA_POINTER as DATA_POINTER,
    Bindings as Bindings,
    add_numbers as add_numbers,
    address_of as address_of,
    bits_of as bits_of,
    tag_of as tag_of,
    word_of as word_of,
)
from .arrays import (
    DeviceTransfers as DeviceTransfers,
    Read as Read,
    Transfer as Transfer,
    Wrong as Wrong,
    bytes_of as bytes_of,
    fill as fill,
    publish as publish,
    read as read,
    register as register,
    reserved as reserved,
    together as together,
    transfer_of as transfer_of,
)
from .interface import (
    Array as Array,
    Counters as Counters,
    DryRuns as DryRuns,
    Executable as Executable,
    ExecutionSpace as ExecutionSpace,
)
from .program import FEW as FEW, MANY as MANY, SOME as SOME, Program as Program
from .steps import (
    MAX as MAX,
    MIN as MIN,
    SUM as SUM,
    AllReduce as AllReduce,
    AllToAll as AllToAll,
    AnySlot as AnySlot,
    Bound as Bound,
    Branch as Branch,
    Communication as Communication,
    Element as Element,
    Launch as Launch,
    Parcel as Parcel,
    Records as Records,
    Slot as Slot,
    Step as Step,
    While as While,
    all_steps as all_steps,
    sides_of as sides_of,
    slots_of as slots_of,
)
from .table import LINE as LINE, ProgramTable as ProgramTable, TableSizes as TableSizes
