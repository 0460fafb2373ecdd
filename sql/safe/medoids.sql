-- title: The record of every group that is nearest to all its records in the nominal columns
-- source: Höhne, SAFE: unification. Nearest is the cell that agrees with the most values of the group, columns added up;
--   of equally near ones the lowest; NULL is a value of its own
-- reads: cells, members
-- returns: label, the columns
-- params: cells, members, columns
SELECT
  label
{% for column in columns %}
  , {{ column | ident }}
{% endfor %}
FROM (
  SELECT
    m.label,
    c.cell,
  {% for column in columns %}
    c.{{ column | ident }},
  {% endfor %}
    0
  {% for column in columns %}
    + sum(m.n) OVER (PARTITION BY m.label, c.{{ column | ident }})
  {% endfor %}
    AS n
  FROM {{ members | ident }} AS m
  JOIN {{ cells | ident }} AS c USING (cell))
QUALIFY row_number() OVER (PARTITION BY label ORDER BY n DESC, cell) = 1
