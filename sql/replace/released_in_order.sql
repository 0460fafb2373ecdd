-- title: The records with their new values, of which there are some for every record
-- source: sqlmicro: in the order of row_id, new values stand in that of the records, so that nothing has to be looked up.
--   Whole numbers as in replace/released.sql
-- reads: relation (in the order of row_id), and the relations that carry new values, for every record
-- returns: row_id, record and the columns, in the order of row_id
-- params: relation, columns (the column, where it comes from, its name there), in_order (alias, relation), unordered,
--   whole, whole_floats (as columns)
SELECT
  CASE
    WHEN true{% for alias, replaced in in_order + unordered %} AND {{ alias | ident }}.row_id = r.row_id{% endfor %} THEN r.row_id
    ELSE error('new values must be those of the same records')
  END AS row_id,
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
{% for alias, replaced in in_order %}
POSITIONAL JOIN {{ replaced | ident }} AS {{ alias | ident }}
{% endfor %}
{% for alias, replaced in unordered %}
POSITIONAL JOIN (FROM {{ replaced | ident }} ORDER BY row_id) AS {{ alias | ident }}
{% endfor %}
