-- title: What has become of every value of some records of a release
-- source: sqlmicro: it tells whether a value was changed, never what it was; of numbers by value, of text by its text
-- reads: original, preview (both by row_id)
-- returns: size; a mark for every column (unchanged, changed, suppressed), in the order of the release
-- params: original, preview, numbers, others
SELECT
  p.size
  , CASE WHEN p."age" IS NOT DISTINCT FROM o."age" THEN 'unchanged'
      WHEN p."age" IS NULL THEN 'suppressed' ELSE 'changed' END AS number_1
  , CASE WHEN CAST(p."sex" AS VARCHAR) IS NOT DISTINCT FROM CAST(o."sex" AS VARCHAR) THEN 'unchanged'
      WHEN p."sex" IS NULL THEN 'suppressed' ELSE 'changed' END AS other_1
FROM "staging"."original" AS o
JOIN "staging"."preview" AS p USING (row_id)
ORDER BY sha256(concat(getvariable('sqlmicro_order'), ' ', row_id))
