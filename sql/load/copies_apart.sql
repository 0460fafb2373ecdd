-- title: The records, those of the same content told apart by a number, where no order is kept
-- source: sqlmicro: as load/copies.sql numbers them, without an order of the relation
-- reads: numbered
-- returns: row_id, record, the columns
-- params: numbered, columns
SELECT
  row_id,
  CASE copy_number WHEN 1 THEN record ELSE hash(record, copy_number) END AS record,
  {{ columns | idents }}
FROM (
  SELECT *, row_number() OVER (PARTITION BY record ORDER BY row_id) AS copy_number
  FROM {{ numbered | ident }})
