-- title: The bins that released records are in
-- source: sqlmicro: a recoding that is written shows no other ends
-- reads: bins (value, low, high), relation, kept (the records that are released)
-- returns: low, high, in order; an open end is NULL
-- params: bins, relation, kept, column
SELECT DISTINCT
  b.low,
  b.high
FROM {{ bins | ident }} AS b
JOIN {{ relation | ident }} AS r ON r.{{ column | ident }} = b.value
SEMI JOIN {{ kept | ident }} AS k USING (row_id)
ORDER BY b.low NULLS FIRST
