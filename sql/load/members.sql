-- title: The unit that every record belongs to, such as its household or its person
-- source: sqlmicro: the values of a unit are grouped once and written to all its records. A record that says nothing of
--   its household is one of its person, one that says nothing of either stands alone; all such units count as one
-- reads: relation (as it was loaded)
-- returns: row_id, unit (the smallest row_id of it), counted (the number it counts as: unit, or -1)
-- params: relation, key (of the unit), keys (the same, and those of the units below: the columns that must be known,
--   and those that tell the units apart), persons (none, or the columns that say whose record it is: a unit of nobody counts as unknown)
SELECT
  row_id,
  CASE
  {% for known, apart in keys %}
    WHEN {% for column in known %}{{ column | ident }} IS NOT NULL AND {% endfor %}true
      THEN min(row_id) OVER (PARTITION BY {{ apart | idents }})
  {% endfor %}
    ELSE row_id
  END AS unit,
  CASE
    WHEN ({% for column in key %}{{ column | ident }} IS NOT NULL AND {% endfor %}true)
    {% for person in persons %}
      AND bool_or({% for column in person %}{{ column | ident }} IS NOT NULL AND {% endfor %}true)
        OVER (PARTITION BY {{ key | idents }})
    {% endfor %}
      THEN min(row_id) OVER (PARTITION BY {{ key | idents }})
    ELSE -1
  END AS counted
FROM {{ relation | ident }}
