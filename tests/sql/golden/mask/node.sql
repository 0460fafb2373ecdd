-- title: What k-anonymity costs at one node of the lattice
-- source: Samarati (2001); El Emam et al. (2009): classes below k are suppressed
-- reads: cells (coded)
-- returns: one row: classes (of at least k), below (records in smaller ones), loss (sum of the shares of the others)
-- params: cells, codes, shares, k
SELECT
  count(*) FILTER (WHERE size >= 2) AS classes,
  coalesce(sum(size) FILTER (WHERE size < 2), 0) AS below,
  coalesce(sum(loss) FILTER (WHERE size >= 2), 0) AS loss
FROM (
  SELECT
    "code_1_0",
    sum(n) AS size,
    sum(n * (0 + "share_2_1")) AS loss
  FROM "staging"."cells"
  GROUP BY ALL)
