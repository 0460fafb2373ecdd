-- title: The combinations that the nights of a series have shown so far, in the form the methods work on
-- source: sqlmicro; dates become day numbers and timestamps microseconds again, as in load/typed.sql
-- reads: texts (class, column_name, value as text), numbers (class, cell, n)
-- returns: cell, the columns, n (rows in the last night)
-- params: texts, numbers, columns (name in staging, type), dates, timestamps (likewise, with their own types)
SELECT
  s.cell
{% for column in columns %}
  , CAST(max(t.value) FILTER (WHERE t.column_name = {{ column.staged | lit }}) AS {{ column | sqltype }}) AS {{ column | ident }}
{% endfor %}
{% for column in dates %}
  , CAST(CAST(max(t.value) FILTER (WHERE t.column_name = {{ column.staged | lit }}) AS DATE) - DATE '1970-01-01' AS DOUBLE) AS {{ column | ident }}
{% endfor %}
{% for column in timestamps %}
  , CAST(epoch_us(CAST(max(t.value) FILTER (WHERE t.column_name = {{ column.staged | lit }}) AS {{ column | sqltype }})) AS DOUBLE) AS {{ column | ident }}
{% endfor %}
  , s.n
FROM {{ numbers | ident }} AS s
JOIN {{ texts | ident }} AS t USING (class)
GROUP BY s.cell, s.n
