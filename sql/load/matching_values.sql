-- title: Sampled values that match a pattern, to be checked
-- source: sqlmicro
-- reads: leaves (place, path, value)
-- returns: place, path, pattern (its name), value; at most so many for each place, path and pattern, by their hash
-- params: leaves, patterns (a name and a regular expression each), most
SELECT place, path, pattern, value
FROM (
  SELECT
    place, path, pattern, value,
    row_number() OVER (PARTITION BY place, path, pattern ORDER BY hash(value), value) AS seat
  FROM (
    {% for name, expression in patterns %}
    SELECT place, path, {{ name | lit }} AS pattern, value
    FROM {{ leaves | ident }}
    WHERE regexp_matches(value, {{ expression | lit }})
    {{ loop | between("UNION ALL") }}
    {% endfor %}
  ))
WHERE seat <= {{ most }}
ORDER BY place, path, pattern, seat
