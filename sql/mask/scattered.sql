-- title: The sorted values in a random order within their blocks
-- source: Moore (1996), rank swapping
-- reads: ordered (with draw, from 0 to 2^30), blocks
-- returns: row_id, value, block (about the position of its first record)
-- order: the blocks, within them the draws; read by position, as rowid
-- params: ordered, blocks, by
WITH placed AS (
  SELECT
    *,
    rowid AS position
  FROM {{ ordered | ident }}
)
SELECT
  p.row_id,
  p.value,
  b.first_position + CAST(greatest(0, ceil(
    (floor((p.position - b.first_position) * b.total / b.n + b.phase) - b.phase) * b.n / b.total)) AS BIGINT) AS block
FROM placed AS p
JOIN {{ blocks | ident }} AS b
  ON {{ by | same("p", "b") }}
ORDER BY block * 1073741824 + p.draw, p.position
