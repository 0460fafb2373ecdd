-- title: How many dates of every column lie, once they are moved, outside of the period that it had
-- source: Hripcsak, Mirhaji, Low & Malin (2016): whoever knows the period learns by how much they were moved at least
-- reads: dates, shifted
-- returns: one row for each column: place from 1, beyond, moved
-- params: dates, shifted, columns (the column, how many of its units are a day)
{% for column, day in columns %}
SELECT
  {{ loop.index }} AS place,
  count(*) FILTER (WHERE floor(s.{{ column | ident }} / {{ day | lit }}) NOT BETWEEN p.low AND p.high) AS beyond,
  count(*) AS moved
FROM {{ dates | ident }} AS d
JOIN {{ shifted | ident }} AS s ON s.row_id = d.row_id
CROSS JOIN (
  SELECT
    floor(min({{ column | ident }}) / {{ day | lit }}) AS low,
    floor(max({{ column | ident }}) / {{ day | lit }}) AS high
  FROM {{ dates | ident }}) AS p
WHERE d.{{ column | ident }} IS NOT NULL
{{ loop | between("UNION ALL") }}
{% endfor %}
