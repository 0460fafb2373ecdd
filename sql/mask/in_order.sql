-- title: The values of a column in their order, where the records were numbered in it
-- source: Moore (1996), rank swapping; equal values go by row_id
-- reads: drawn (with draw_1; numbered in the order of the value, records without a value last)
-- returns: row_id, value in its own type, draw, rowid (the position, which is row_id); records without a value are left out
-- params: drawn, column
SELECT
  row_id,
  {{ column | ident }} AS value,
  draw_1 >> 30 AS draw,
  row_id AS rowid
FROM {{ drawn | ident }}
WHERE {{ column | ident }} IS NOT NULL
