-- title: The values of neighbours in the random order of a block swapped
-- source: Moore (1996), rank swapping
-- reads: scattered
-- returns: row_id, value; the last record of a block with an odd number of them keeps its value
-- params: scattered
SELECT
  row_id,
  CASE
    WHEN (rowid - block) & 1 = 0 AND lead(block) OVER () = block THEN lead(value) OVER ()
    WHEN (rowid - block) & 1 = 1 AND lag(block) OVER () = block THEN lag(value) OVER ()
    ELSE value
  END AS value
FROM "staging"."scattered"
