-- title: The records of an original that are released, with the pseudonyms they are released with
-- source: sqlmicro: whoever attacks a release with its original in hand has to be told whether the person found is the one
-- reads: original, released
-- returns: columns (of the original), pseudonyms (as text)
-- params: original, released, columns, pseudonyms
SELECT
  o."x",
  CAST(r."p" AS VARCHAR) AS "p",
  1 AS n
FROM "staging"."original" AS o
JOIN "staging"."released" AS r ON o.row_id = r.row_id
