-- title: The risk of every record of a run
-- source: sqlmicro: the records of a run are known by a hash of their key, as load/typed.sql makes it
-- reads: original (the records as they were loaded), risks (a table of risks)
-- returns: row_id, measure, known (whether there is a risk of the record)
-- params: original, risks, key (the names of its columns), identity (record, or key_0), measure
SELECT
  o.row_id,
  r.measure,
  r.measure IS NOT NULL AS known
FROM "staging"."original" AS o
LEFT JOIN (
  SELECT
    hash(CAST("net ""income""" AS VARCHAR), CAST("town" AS VARCHAR)) AS identity,
    CAST("r" AS DOUBLE) AS measure
  FROM "staging"."risks") AS r ON o."key_0" = r.identity
