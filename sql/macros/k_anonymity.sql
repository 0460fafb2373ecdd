-- title: How often the rarest combination of the columns occurs
-- source: Samarati & Sweeney (1998)
-- reads: tbl
-- returns: one row: k (NULL for an empty table), classes, records, uniques; with columns of a person these are persons
-- params: tbl (name of a table), cols (list of its columns), person := [] (columns that say whose record it is)
SELECT
  min(size) AS k,
  sum(classes) AS classes,
  sum(records) AS records,
  coalesce(sum(records) FILTER (WHERE size = 1), 0) AS uniques
FROM sm_class_sizes(tbl, cols, person := person)
