-- title: The random numbers of every household, and how many records it has
-- source: sqlmicro
-- reads: drawn (row_id of the household, draws), members (row_id, unit)
-- returns: in the order of row_id: row_id, members, the draws
-- params: drawn, members, draws
SELECT
  d.row_id,
  count(*) AS members
{% for draw in draws %}
  , any_value(d.{{ draw | ident }}) AS {{ draw | ident }}
{% endfor %}
FROM {{ drawn | ident }} AS d
JOIN {{ members | ident }} AS m ON m.unit = d.row_id
GROUP BY d.row_id
ORDER BY d.row_id
