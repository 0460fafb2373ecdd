-- title: How many classes of each size there are, and how many records they have
-- source: Samarati & Sweeney (1998): a table is k-anonymous if every combination of quasi-identifiers occurs k times
-- reads: cells
-- returns: size, classes, records
-- params: cells
SELECT
  size,
  count(*) AS classes,
  CAST(sum(records) AS BIGINT) AS records
FROM {{ cells | ident }}
GROUP BY size
ORDER BY size
