-- title: How many records every group has, and what they weigh together
-- source: sqlmicro; added up in the order of the cells, so that the sum does not depend on anything else
-- reads: members, cells
-- returns: in the order of label: label, n, weight
-- params: members, cells, weights
SELECT
  m.label,
  CAST(sum(m.n) AS BIGINT) AS n,
  sum(m.n * CAST(c."w" AS DOUBLE) ORDER BY m.cell) AS weight
FROM "staging"."members" AS m
JOIN "staging"."cells" AS c USING (cell)
GROUP BY m.label
ORDER BY m.label
