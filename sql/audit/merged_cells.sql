-- title: The combinations of fewer columns, and how many records have each
-- source: sqlmicro: counted from the combinations of all columns, without reading the records again
-- reads: relation (cells)
-- returns: the columns, records, size (records again)
-- params: relation, columns
SELECT
{% for column in columns %}
  {{ column | ident }},
{% endfor %}
  CAST(sum(records) AS BIGINT) AS records,
  CAST(sum(records) AS BIGINT) AS size
FROM {{ relation | ident }}
GROUP BY ALL
