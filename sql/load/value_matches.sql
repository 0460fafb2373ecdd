-- title: How many of the sampled values match each pattern
-- source: sqlmicro
-- reads: leaves (place, path, value)
-- returns: place, path, pattern (its name; '' for all values), matched
-- params: leaves, patterns (a name and a regular expression each)
SELECT place, path, '' AS pattern, count(*) AS matched
FROM {{ leaves | ident }}
GROUP BY place, path
{% for name, expression in patterns %}
UNION ALL
SELECT place, path, {{ name | lit }} AS pattern, count(*) AS matched
FROM {{ leaves | ident }}
WHERE regexp_matches(value, {{ expression | lit }})
GROUP BY place, path
{% endfor %}
