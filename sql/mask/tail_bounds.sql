-- title: Where the tail of every stratum begins, the last value that is no part of it, and what it becomes, as text
-- source: Hundepool et al. (2012), top and bottom coding
-- reads: relation, tails (the strata, threshold, mean, median)
-- returns: the strata, threshold and replacement (NULL where a stratum has no tail), the last value outside
-- params: relation, tails, by, strata (column, name), column, top, replacement
SELECT
{% for column, name in strata %}
  CAST(r.{{ column | ident }} AS VARCHAR) AS {{ name | ident }},
{% endfor %}
  CAST(t.threshold AS VARCHAR) AS threshold,
  CAST(CASE WHEN {{ top | lit }}
    THEN max(r.{{ column | ident }}) FILTER (WHERE t.threshold IS NULL OR r.{{ column | ident }} < t.threshold)
    ELSE min(r.{{ column | ident }}) FILTER (WHERE t.threshold IS NULL OR r.{{ column | ident }} > t.threshold)
  END AS VARCHAR) AS beyond,
  CAST(t.{{ replacement | ident }} AS VARCHAR) AS becomes
FROM {{ relation | ident }} AS r
LEFT JOIN {{ tails | ident }} AS t
  ON {{ by | same("r", "t") }}
GROUP BY ALL
ORDER BY ALL
