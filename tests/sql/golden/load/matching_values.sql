-- title: Sampled values that match a pattern, to be checked
-- source: sqlmicro
-- reads: matches (place, path, pattern, value)
-- returns: place, path, pattern (its name), value; at most so many for each place, path and pattern, by their hash
-- params: matches, patterns (their names), most
SELECT place, path, pattern, value
FROM (
  SELECT
    place, path, pattern, value,
    row_number() OVER (PARTITION BY place, path, pattern ORDER BY hash(value), value) AS seat
  FROM "staging"."matches"
  WHERE list_contains(['at', 'digits'], pattern))
WHERE seat <= 5
ORDER BY place, path, pattern, seat
