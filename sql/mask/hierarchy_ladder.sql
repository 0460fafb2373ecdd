-- title: Every value with what a hierarchy makes of it on each level, numbered, and how much of the hierarchy that covers
-- source: El Emam et al. (2009), granularity; Iyengar (2002): (leaves that share the level - 1) / (leaves - 1)
-- reads: texts (value, recoded: the value as text), hierarchy (value, a column per level; its row without a value says what becomes of a missing one)
-- returns: value, found (whether the hierarchy has it), code_0, and per level: level_i, code_i, share_i
-- params: texts, hierarchy, levels (level, code, share)
WITH leaves AS (
  SELECT
    *
  {% for level, code, share in levels %}
    , greatest(count(value) OVER (PARTITION BY {{ level | ident }}) - 1, 0) / greatest(count(value) OVER () - 1, 1)
      AS {{ share | ident }}
  {% endfor %}
  FROM {{ hierarchy | ident }})
SELECT
  v.value,
  v.value IS NULL OR h.value IS NOT NULL AS found,
  dense_rank() OVER (ORDER BY v.value NULLS LAST) AS code_0
{% for level, code, share in levels %}
  , h.{{ level | ident }}
  , dense_rank() OVER (ORDER BY h.{{ level | ident }} NULLS LAST) AS {{ code | ident }}
  , h.{{ share | ident }}
{% endfor %}
FROM {{ texts | ident }} AS v
LEFT JOIN leaves AS h ON h.value IS NOT DISTINCT FROM v.recoded
