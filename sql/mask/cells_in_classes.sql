-- title: The first class that every combination fits, with what its values are released as
-- source: sqlmicro: local recoding; a combination that fits none is left out
-- reads: cells, classes (place, the strata, a level and a value per column), the relations that hold the levels by value
-- returns: label (the number of the combination), the columns that changed
-- params: cells, classes, joined (relation, alias, column), strata (column, name),
--   columns (column, value, level, type, steps: number, alias, name), changed (of the columns)
WITH nodes AS (
  SELECT DISTINCT
    {{ columns | listed("{3}") }}
  FROM {{ classes | ident }}
),
fitting AS (
  SELECT
    c.cell,
    min(k.place) AS place
  FROM {{ cells | ident }} AS c
  {% for relation, alias, column in joined %}
  JOIN {{ relation | ident }} AS {{ alias | ident }} ON {{ alias | ident }}.value IS NOT DISTINCT FROM c.{{ column | ident }}
  {% endfor %}
  CROSS JOIN nodes AS n
  JOIN {{ classes | ident }} AS k
    ON true
  {% for column, name in strata %}
      AND CAST(c.{{ column | ident }} AS VARCHAR) IS NOT DISTINCT FROM k.{{ name | ident }}
  {% endfor %}
  {% for column, value, level, type, steps in columns %}
      AND k.{{ level | ident }} = n.{{ level | ident }}
      AND CAST(k.{{ value | ident }} AS {{ type | sqltype }}) IS NOT DISTINCT FROM CASE n.{{ level | ident }}
    {% for number, alias, name in steps %}
        WHEN {{ number | lit }} THEN CAST({{ alias | ident }}.{{ name | ident }} AS {{ type | sqltype }})
    {% endfor %}
      END
  {% endfor %}
  GROUP BY c.cell
)
SELECT
  f.cell AS label
{% for column, value, level, type, steps in changed %}
  , CAST(k.{{ value | ident }} AS {{ type | sqltype }}) AS {{ column | ident }}
{% endfor %}
FROM fitting AS f
JOIN {{ classes | ident }} AS k USING (place)
