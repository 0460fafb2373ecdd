-- title: How many classes are smaller than k, and how many records they hold
-- source: Samarati & Sweeney (1998)
-- reads: tbl
-- returns: one row: violating_classes, violating_records; with columns of a person these are persons
-- params: tbl (name of a table), cols (list of its columns), k, person := [] (columns that say whose record it is)
SELECT
  coalesce(sum(classes), 0) AS violating_classes,
  coalesce(sum(records), 0) AS violating_records
FROM sm_class_sizes(tbl, cols, person := person)
WHERE size < k
