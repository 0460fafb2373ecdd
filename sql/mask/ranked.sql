-- title: The values of a column in their order, within strata, with a hash of the record and value of each
-- source: Moore (1996), rank swapping; equal values go by row_id
-- reads: relation (with record)
-- returns: row_id, value in its own type, drawn_for; records without a value are left out
-- order: the strata, the value, row_id
-- params: relation, by, column
SELECT
  row_id,
  {{ column | ident }} AS value,
  hash(record, {{ column | ident }}) AS drawn_for
FROM {{ relation | ident }}
WHERE {{ column | ident }} IS NOT NULL
ORDER BY {{ by | listed("{}, ") }}value, row_id
