-- title: The one record that every member of a placed group becomes
-- source: SAFE by direct search: a group takes the values of an occurring combination, and the mean of its members in the
--   columns that are not part of a combination
-- reads: cells, placed, means
-- returns: label, the columns, n
-- params: cells, placed, means, own, averaged
SELECT
  p.label
  , c."sex"
  , c."x"
  , m."net ""income"""
  , m.n
FROM "staging"."placed" AS p
JOIN "staging"."cells" AS c USING (cell)
JOIN "staging"."means" AS m USING (label)
