-- title: The members of every group, with the weight of their records instead of their number
-- source: Höhne, SAFE: the means of a group are weighted, so that the weighted totals stay what they are
-- reads: members, cells
-- returns: cell, label, n (the sum of the weights)
-- params: members, cells, weights
SELECT
  m.cell,
  m.label,
  m.n * CAST(c."w" AS DECIMAL(18, 6)) AS n
FROM "staging"."members" AS m
JOIN "staging"."cells" AS c USING (cell)
