-- title: The class of every new row of a series, in each of its columns
-- source: sqlmicro; rows of one stratum with one value are a class, which has the number of its first row
-- reads: cohort (row, stratum, the columns as texts)
-- returns: row, classes (one for every column)
-- params: cohort, columns
SELECT
  row,
  list_value(
    row
  {% for column in columns %}
    , min(row) OVER (PARTITION BY stratum, {{ column | ident }})
  {% endfor %}
  )[2:] AS classes
FROM {{ cohort | ident }}
