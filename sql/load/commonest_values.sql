-- title: How many records have the commonest value of each column
-- source: sqlmicro: what nearly all records have depends on everything
-- reads: relation
-- returns: one row: row_count; for every column how many records have its commonest value, a missing one included
-- params: relation, columns
SELECT
  (SELECT count(*) FROM {{ relation | ident }}) AS row_count
{% for column in columns %}
  , (
    SELECT max(of_one.times)
    FROM (SELECT count(*) AS times FROM {{ relation | ident }} GROUP BY {{ column.name | ident }}) AS of_one
  ) AS commonest_{{ loop.index }}
{% endfor %}
