-- title: How many of the sampled values match each pattern
-- source: sqlmicro
-- reads: matches (place, path, pattern)
-- returns: place, path, pattern (its name; '' for all values), matched
-- params: matches
SELECT place, path, pattern, count(*) AS matched
FROM {{ matches | ident }}
GROUP BY place, path, pattern
