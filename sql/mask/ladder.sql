-- title: Every value with what it becomes on each level, numbered, and how much of the column that covers
-- source: El Emam et al. (2009), granularity: (values that share the level - 1) / (values - 1),
--   of the values that records have
-- reads: values (value, n), rungs (a relation per level: value, recoded)
-- returns: value, code_0, and per level: level_i, code_i, share_i
-- params: values, rungs (alias, relation, level, code, share)
SELECT
  v.value,
  dense_rank() OVER (ORDER BY v.value NULLS LAST) AS code_0
{% for alias, relation, level, code, share in rungs %}
  , {{ alias | ident }}.recoded AS {{ level | ident }}
  , dense_rank() OVER (ORDER BY {{ alias | ident }}.recoded NULLS LAST) AS {{ code | ident }}
  , greatest(count(CASE WHEN v.n > 0 THEN 1 END) OVER (PARTITION BY {{ alias | ident }}.recoded) - 1, 0)
      / greatest(count(CASE WHEN v.n > 0 THEN 1 END) OVER () - 1, 1) AS {{ share | ident }}
{% endfor %}
FROM {{ values | ident }} AS v
{% for alias, relation, level, code, share in rungs %}
JOIN {{ relation | ident }} AS {{ alias | ident }} ON {{ alias | ident }}.value IS NOT DISTINCT FROM v.value
{% endfor %}
