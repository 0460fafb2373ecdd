-- title: The risk that a record of each class is re-identified in the population its weights stand for
-- source: Benedetti & Franconi (1998), as in Hundepool et al. (2012): the mean of 1/F given f records in the sample, where
--   F - f is negative binomial with p = f / (sum of the weights); f = 1, 2 exactly, f > 2 by p / (f - (1 - p))
-- reads: weighted_cells
-- returns: the columns, records, measure; 1/f where the weights stand for nobody else
-- params: weighted_cells, columns
SELECT
  "a",
  records,
  CASE
    WHEN total <= size THEN 1 / size
    WHEN size = 1 THEN ln(total) / (total - 1)
    WHEN size = 2 THEN 2 / (total - 2) - (2 / (total - 2)) ** 2 * ln(total / 2)
    ELSE size / total / (size - 1 + size / total)
  END AS measure
FROM "staging"."cells"
