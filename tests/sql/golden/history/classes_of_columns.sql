-- title: The class of every new row of a series, in each of its columns
-- source: sqlmicro; rows of one stratum with one value are a class, which has the number of its first row
-- reads: cohort (row, stratum, the columns as texts)
-- returns: row, classes (one for every column)
-- params: cohort, columns
SELECT
  row,
  list_value(
    row
    , min(row) OVER (PARTITION BY stratum, "c1")
    , min(row) OVER (PARTITION BY stratum, "c2")
  )[2:] AS classes
FROM "staging"."cohort"
