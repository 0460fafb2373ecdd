-- title: The sampled values, once for each pattern that they match, and once for none
-- source: sqlmicro
-- reads: leaves (place, path, value)
-- returns: place, path, pattern (its name; '' for all values), value
-- params: leaves, patterns (a name and a regular expression each)
SELECT place, path, pattern, value
FROM (
  SELECT
    place,
    path,
    unnest([
      ''
      {% for name, expression in patterns %}
      , CASE WHEN regexp_matches(value, {{ expression | lit }}) THEN {{ name | lit }} END
      {% endfor %}
    ]) AS pattern,
    value
  FROM {{ leaves | ident }})
WHERE pattern IS NOT NULL
