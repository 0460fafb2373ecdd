-- title: How many of the sampled values match each pattern
-- source: sqlmicro
-- reads: leaves (place, path, value)
-- returns: place, path, pattern (its name; '' for all values), matched
-- params: leaves, patterns (a name and a regular expression each)
SELECT place, path, '' AS pattern, count(*) AS matched
FROM "staging"."leaves"
GROUP BY place, path
UNION ALL
SELECT place, path, 'at' AS pattern, count(*) AS matched
FROM "staging"."leaves"
WHERE regexp_matches(value, '@')
GROUP BY place, path
UNION ALL
SELECT place, path, 'digits' AS pattern, count(*) AS matched
FROM "staging"."leaves"
WHERE regexp_matches(value, '^[0-9]+$')
GROUP BY place, path
