-- title: The tails of a recoding, by stratum
-- source: Hundepool et al. (2012), top and bottom coding; sqlmicro: tails that were published are applied to others
-- reads: nothing, the tails stand here
-- returns: the strata as text, start (in the tail), beyond (not in it), whole (every value is), becomes (NULL: not known)
-- params: strata (name, texts), starts, beyonds, becomes, type, result
WITH texts AS (
  SELECT
  {% for name, texts in strata %}
    unnest(CAST({{ texts | lit }} AS VARCHAR[])) AS {{ name | ident }},
  {% endfor %}
    unnest(CAST({{ starts | lit }} AS VARCHAR[])) AS start,
    unnest(CAST({{ beyonds | lit }} AS VARCHAR[])) AS beyond,
    unnest(CAST({{ becomes | lit }} AS VARCHAR[])) AS becomes
)
SELECT
{% for name, texts in strata %}
  b.{{ name | ident }},
{% endfor %}
  CAST(b.start AS {{ type | sqltype }}) AS start,
  CAST(b.beyond AS {{ type | sqltype }}) AS beyond,
  b.start IS NULL AND b.beyond IS NULL AS whole,
  CAST(b.becomes AS {{ result | sqltype }}) AS becomes
FROM texts AS b
