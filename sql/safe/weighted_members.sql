-- title: The members of every group, with the weight of their records instead of their number
-- source: Höhne, SAFE: the means of a group are weighted, so that the weighted totals stay what they are
-- reads: members, cells
-- returns: cell, label, n (the sum of the weights)
-- params: members, cells, weights
SELECT
  m.cell,
  m.label,
  m.n * CAST(c.{{ weights | ident }} AS DECIMAL(18, 6)) AS n
FROM {{ members | ident }} AS m
JOIN {{ cells | ident }} AS c USING (cell)
