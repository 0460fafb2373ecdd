-- title: How many classes are smaller than k, and how many records they hold
-- source: Samarati & Sweeney (1998)
-- reads: tbl
-- returns: one row: violating_classes, violating_records
-- params: tbl (name of a table), cols (list of its columns), k
SELECT
  coalesce(sum(classes), 0) AS violating_classes,
  coalesce(sum(size * classes), 0) AS violating_records
FROM sm_class_sizes(tbl, cols)
WHERE size < k
