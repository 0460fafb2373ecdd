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
      , CASE WHEN regexp_matches(value, '@') THEN 'at' END
      , CASE WHEN regexp_matches(value, '[0-9]') THEN 'a digit' END
      , CASE WHEN regexp_matches(value, '^[0-9]+$') THEN 'digits' END
    ]) AS pattern,
    value
  FROM "staging"."leaves")
WHERE pattern IS NOT NULL
