-- title: How likely a record is found by somebody who knows these columns
-- source: El Emam & Dankar (2008): prosecutor risk is 1/size, its mean is classes/records
-- reads: tbl
-- returns: one row: highest, mean, uniques (share of records); with columns of a person these are persons
-- params: tbl (name of a table), cols (list of its columns), person := [] (columns that say whose record it is)
SELECT
  1 / min(size) AS highest,
  sum(records / size) / sum(records) AS mean,
  coalesce(sum(records) FILTER (WHERE size = 1), 0) / sum(records) AS uniques
FROM sm_class_sizes(tbl, cols, person := person)
