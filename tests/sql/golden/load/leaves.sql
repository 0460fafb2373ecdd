-- title: Sampled values, and those inside of values that are JSON
-- source: sqlmicro
-- reads: sampled (place, path, value)
-- returns: place, path (the key that a value has in its JSON, that of the list for its elements; empty for a value that
--   is no JSON object or list), value; a key of JSON is a value too, with the path keys; at most so many of a place
-- params: sampled, most
SELECT place, path, value
FROM (
  SELECT place, path, value, row_number() OVER (PARTITION BY place ORDER BY hash(value), value, path) AS seat
  FROM (
    SELECT place, '' AS path, value
    FROM "staging"."sampled"
    WHERE NOT (regexp_matches(value, '^[{\[]') AND json_valid(value))
    UNION
    SELECT
      place,
      regexp_extract(regexp_replace(leaf.fullkey, '(\[[0-9]+\])+$', ''), '[^.]*$') AS path,
      trim(json_extract_string(leaf.atom, '$')) AS value
    FROM (
      SELECT place, value AS document
      FROM "staging"."sampled"
      WHERE regexp_matches(value, '^[{\[]') AND json_valid(value)) AS documents,
      json_tree(CASE WHEN json_valid(document) THEN document END) AS leaf
    WHERE leaf.atom IS NOT NULL
    UNION
    SELECT place, 'keys' AS path, leaf.key AS value
    FROM (
      SELECT place, value AS document
      FROM "staging"."sampled"
      WHERE regexp_matches(value, '^[{\[]') AND json_valid(value)) AS documents,
      json_tree(CASE WHEN json_valid(document) THEN document END) AS leaf
    WHERE leaf.key IS NOT NULL AND NOT regexp_matches(leaf.key, '^[0-9]+$'))
  WHERE value <> '')
WHERE seat <= 9
