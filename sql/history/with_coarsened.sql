-- title: The records of a night of a series, without values that were taken out of some who have waited
-- source: sqlmicro, --nulls pattern
-- reads: relation, coarsened (both with pattern: which columns a record lacks)
-- returns: row_id, record, the columns, pattern
-- params: relation, coarsened, columns
SELECT row_id, record{% for column in columns %}, {{ column | ident }}{% endfor %}, pattern
FROM {{ relation | ident }}
ANTI JOIN {{ coarsened | ident }} USING (row_id)
UNION ALL
SELECT row_id, record{% for column in columns %}, {{ column | ident }}{% endfor %}, pattern
FROM {{ coarsened | ident }}
