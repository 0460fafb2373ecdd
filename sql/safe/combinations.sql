-- title: The cells, and after them combinations that no record has
-- source: sqlmicro: such a combination is a cell, `base`, with the value that another cell, `donor`, has in one column
-- reads: cells, invented (cell, base, donor, changed: the number of that column from 1)
-- returns: cell, the columns
-- params: cells, invented, columns
SELECT
  cell
{% for column in columns %}
  , {{ column | ident }}
{% endfor %}
FROM {{ cells | ident }}
UNION ALL
SELECT
  i.cell
{% for column in columns %}
  , CASE WHEN i.changed = {{ loop.index }} THEN d.{{ column | ident }} ELSE b.{{ column | ident }} END AS {{ column | ident }}
{% endfor %}
FROM {{ invented | ident }} AS i
JOIN {{ cells | ident }} AS b
  ON b.cell = i.base
JOIN {{ cells | ident }} AS d
  ON d.cell = i.donor
