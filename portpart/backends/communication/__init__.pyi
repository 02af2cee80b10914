from .calls import (
    agree as agree,
    calls_of as calls_of,
    cores_of_rank as cores_of_rank,
    each_of_ranks as each_of_ranks,
    from_first_rank as from_first_rank,
    keepers as keepers,
    number_on_host as number_on_host,
    once as once,
    require_mpi as require_mpi,
    sum_over_ranks as sum_over_ranks,
)
from .exchange import (
    ALL as ALL,
    Operation as Operation,
    Posting as Posting,
    Prepared as Prepared,
    ProgramRun as ProgramRun,
    ReducedWords as ReducedWords,
    Refused as Refused,
    TalkLeader as TalkLeader,
    communicator_of as communicator_of,
    described as described,
    follow as follow,
    operation_of as operation_of,
    refuse as refuse,
    require_same as require_same,
    wait_of as wait_of,
)
from .local import Local as Local, One as One
from .mpi import Mpi as Mpi, MpiCalls as MpiCalls
from .processes import (
    PATIENCE as PATIENCE,
    FailureCheck as FailureCheck,
    ProcessCalls as ProcessCalls,
    nothing_new as nothing_new,
)
from .protocol import (
    CommunicationError as CommunicationError,
    Communicator as Communicator,
    RankFailed as RankFailed,
    planned as planned,
    require_parcel as require_parcel,
    require_parts as require_parts,
    require_space as require_space,
    require_words as require_words,
    rounds_of as rounds_of,
    too_little_space as too_little_space,
    wrong_parts as wrong_parts,
)
