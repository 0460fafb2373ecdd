-- title: The sorted values in a random order within their blocks; the physical order of the result is its meaning
-- source: Moore (1996), rank swapping
-- reads: ordered, draws, blocks
-- returns: row_id, value, block (about the position of its first record)
-- params: ordered, draws, blocks, by
WITH placed AS (
  SELECT
    o.*,
    o.rowid AS position,
    d.draw
  FROM "staging"."ordered" AS o
  POSITIONAL JOIN "staging"."draws" AS d
)
SELECT
  p.row_id,
  p.value,
  b.first_position + CAST(greatest(0, ceil(
    (floor((p.position - b.first_position) * b.total / b.n + b.phase) - b.phase) * b.n / b.total)) AS BIGINT) AS block
FROM placed AS p
JOIN "staging"."blocks" AS b
  ON p."land" IS NOT DISTINCT FROM b."land" AND true
WHERE p.row_id IS NOT NULL
ORDER BY block * 1073741824 + p.draw, p.position
