-- title: How many of the sampled values match each pattern, and some of them, to be checked
-- source: sqlmicro
-- reads: leaves (place, path, value)
-- returns: place, path, pattern (its name; '' for all values), matched, listed (of the patterns that are asked for, at
--   most so many values, by their hash, and no more than the beginning of a long one)
-- params: leaves, patterns (a name and a regular expression each), folded (further ones, which are looked for where every
--   letter beyond ASCII is a z), listed (names of patterns), most
SELECT
  place,
  path,
  pattern,
  count(*) AS matched,
  list(left(value, 20000) ORDER BY hash(value), value) FILTER (WHERE list_contains(['a digit', 'at'], pattern))[1:5] AS listed
FROM (
  SELECT
    place,
    path,
    unnest(list_where(
      [
        ''
        , 'at'
        , 'a digit'
        , 'digits'
      ],
      [
        true
        , regexp_matches(value, '@')
        , regexp_matches(value, '[0-9]')
        , regexp_matches(value, '^[0-9]+$')
      ])) AS pattern,
    value
  FROM (SELECT *, regexp_replace(value, '[^\P{L}A-Za-z]', 'z', 'g') AS folded FROM "staging"."leaves"))
GROUP BY place, path, pattern
