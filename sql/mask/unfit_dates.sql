-- title: How many dates of every column cannot be moved: they are infinite, or would leave the calendar
-- source: sqlmicro
-- reads: dates
-- returns: one row for each column: place from 1, unfit
-- params: dates, columns (the column, its smallest and its largest value)
{% for column, low, high in columns %}
SELECT
  {{ loop.index }} AS place,
  count(*) AS unfit
FROM {{ dates | ident }}
WHERE {{ column | ident }} NOT BETWEEN {{ low | lit }} AND {{ high | lit }}
{{ loop | between("UNION ALL") }}
{% endfor %}
