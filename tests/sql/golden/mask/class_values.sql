-- title: The strata and the released values of some combinations, as text, in a given order
-- source: sqlmicro: local recoding
-- reads: cells, representatives (label, the columns that changed)
-- returns: the strata, the columns
-- params: cells, representatives, chosen (numbers of combinations), strata, columns (column, where it comes from)
SELECT
  CAST(c."land" AS VARCHAR) AS "land", 
  CAST("p"."net ""income""" AS VARCHAR) AS "net ""income""", CAST("c"."town" AS VARCHAR) AS "town"
FROM (SELECT unnest(CAST([1, 0] AS BIGINT[])) AS label, generate_subscripts([1, 0], 1) AS position) AS o
JOIN "staging"."representatives" AS p ON p.label = o.label
JOIN "staging"."cells" AS c ON c.cell = o.label
ORDER BY o.position
