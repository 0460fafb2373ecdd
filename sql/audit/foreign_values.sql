-- title: How many values of every column of a release its original does not have
-- source: sqlmicro: a column whose values all occur in the original is released with original values, not with averages
-- reads: released, original (cells)
-- returns: one row: records (combinations of the release), a number per column; NULL is a value
-- params: released, original, columns
SELECT
  (SELECT count(*) FROM {{ released | ident }}) AS records
{% for column in columns %}
  , (SELECT count(*) FROM (
      SELECT {{ column | ident }} FROM {{ released | ident }}
      EXCEPT
      SELECT {{ column | ident }} FROM {{ original | ident }}
    ) AS foreign_{{ loop.index }}) AS {{ column | ident }}
{% endfor %}
