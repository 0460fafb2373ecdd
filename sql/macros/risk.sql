-- title: How likely a record is found by somebody who knows these columns
-- source: El Emam & Dankar (2008): prosecutor risk is 1/size, its mean is classes/records
-- reads: tbl
-- returns: one row: highest, mean, uniques (share of records)
-- params: tbl (name of a table), cols (list of its columns)
SELECT
  1 / min(size) AS highest,
  sum(classes) / sum(size * classes) AS mean,
  coalesce(sum(classes) FILTER (WHERE size = 1), 0) / sum(size * classes) AS uniques
FROM sm_class_sizes(tbl, cols)
