-- title: The combinations that occur, with the weight of their records instead of their number
-- source: Höhne, SAFE: A = Z'WZ and T = Z'WX for a file whose records have weights. Six digits after the point, so that sums are
--   exact and do not depend on their order
-- reads: cells
-- returns: the columns, n (the sum of the weights)
-- params: cells, columns, weights
SELECT
  "sex",
  n * CAST("w" AS DECIMAL(18, 6)) AS n
FROM "staging"."cells"
