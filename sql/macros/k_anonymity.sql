-- title: How often the rarest combination of the columns occurs
-- source: Samarati & Sweeney (1998)
-- reads: tbl
-- returns: one row: k (NULL for an empty table), classes, records, uniques
-- params: tbl (name of a table), cols (list of its columns)
SELECT
  min(size) AS k,
  sum(classes) AS classes,
  sum(size * classes) AS records,
  coalesce(sum(classes) FILTER (WHERE size = 1), 0) AS uniques
FROM sm_class_sizes(tbl, cols)
