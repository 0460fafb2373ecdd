-- title: The records, those of the same content told apart by a number, so that each draws its own random numbers
-- source: sqlmicro: which of them has which number makes no difference, because they are the same. Numbered in the order
--   of record, they follow each other, so that they are counted as they come. The first keeps its record: so a copy that
--   comes or goes changes nothing for others
-- reads: numbered (in the order of row_id, which is that of record)
-- returns: row_id, record, the columns, in the order of row_id
-- params: numbered, columns
SELECT
  row_id,
  CASE copy_number WHEN 1 THEN record ELSE hash(record, copy_number) END AS record,
  "x"
FROM (
  SELECT *, row_id + 1 - max(first_row_id) OVER (ROWS UNBOUNDED PRECEDING) AS copy_number
  FROM (
    SELECT *, CASE WHEN record IS DISTINCT FROM lag(record) OVER () THEN row_id END AS first_row_id
    FROM "staging"."numbered"))
