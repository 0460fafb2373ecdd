-- title: The records with their new values
-- source: sqlmicro. What was a whole number stays one: means are rounded half to even, which has no bias. At the end of a
--   type's range a DOUBLE may lie just outside it, and then the next one inside is taken. -0.0 becomes 0.0
-- reads: relation, and the relations that carry new values by row_id
-- returns: row_id, record and the columns, in the order of row_id
-- params: relation, columns (the column, where it comes from, its name there), joined (alias, relation),
--   whole (as columns, new values become their type), whole_floats (as columns, rounded and with a point)
SELECT
  r.row_id,
  r.record
{% for column, alias, name in columns %}
  , {{ alias | ident }}.{{ name | ident }} AS {{ column | ident }}
{% endfor %}
{% for column, alias, name in whole %}
  , coalesce(
      TRY_CAST(round_even({{ alias | ident }}.{{ name | ident }}, 0) AS {{ column | sqltype }}),
      CAST({{ alias | ident }}.{{ name | ident }} * (1 - 2.220446049250313e-16) AS {{ column | sqltype }})) AS {{ column | ident }}
{% endfor %}
{% for column, alias, name in whole_floats %}
  , round_even({{ alias | ident }}.{{ name | ident }}, 0) + 0 AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }} AS r
{% for alias, replaced in joined %}
LEFT JOIN {{ replaced | ident }} AS {{ alias | ident }} ON {{ alias | ident }}.row_id = r.row_id
{% endfor %}
ORDER BY r.row_id
