from .edge_rows import (
    BY_PLACE as BY_PLACE,
    TO_ROUND as TO_ROUND,
    EdgeRows as EdgeRows,
    graph_of_rows as graph_of_rows,
    lower_edges as lower_edges,
    read_rows as read_rows,
)
from .files import (
    SEPARATORS as SEPARATORS,
    STREAM as STREAM,
    UTF8_MARK as UTF8_MARK,
    UTF16_MARKS as UTF16_MARKS,
    PathLike as PathLike,
    Source as Source,
    is_count as is_count,
    move_into_place as move_into_place,
    new_temporary as new_temporary,
    read_source as read_source,
    write_chunks as write_chunks,
    write_together as write_together,
)
from .foreign import refuse_foreign as refuse_foreign
from .fractions import (
    AMOUNT as AMOUNT,
    FRACTION as FRACTION,
    TO_SCALE as TO_SCALE,
    amount as amount,
    fractions_at as fractions_at,
    made_whole as made_whole,
    product as product,
    refuse_number as refuse_number,
)
from .named_edges import (
    are_integers as are_integers,
    as_bytes as as_bytes,
    as_they_occur as as_they_occur,
    named_lines as named_lines,
    why_unwritable as why_unwritable,
    with_alone as with_alone,
)
from .named_rows import read_named_rows as read_named_rows
from .packed import (
    CHUNK as CHUNK,
    COMPRESSIONS as COMPRESSIONS,
    FIRST_BYTES as FIRST_BYTES,
    LARGEST_RATIO as LARGEST_RATIO,
    UNCHECKED_BYTES as UNCHECKED_BYTES,
    ZIP_EMPTY as ZIP_EMPTY,
    ZIP_MEMBER as ZIP_MEMBER,
    bare_name as bare_name,
    is_packed as is_packed,
    undamaged as undamaged,
)
from .rules import (
    RULES as RULES,
    STRICT as STRICT,
    WEIGHTED_WIDTH as WEIGHTED_WIDTH,
    WIDTHS as WIDTHS,
    ReadingRules as ReadingRules,
    columns_of as columns_of,
    rules_of as rules_of,
)
from .tokens import (
    Lines as Lines,
    LineSyntax as LineSyntax,
    WordTable as WordTable,
    count_numbers as count_numbers,
    has_width as has_width,
    read_lines as read_lines,
    read_table as read_table,
    rendered_rows as rendered_rows,
)
