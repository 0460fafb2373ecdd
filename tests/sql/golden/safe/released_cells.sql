-- title: The one record that every member of a group becomes
-- source: Höhne, SAFE: unification, nominal columns by their mode or medoid, numeric ones by their mean or median
-- reads: means, and the relations that carry the other columns by label
-- returns: label, the columns, n
-- params: means, columns (alias, column; m is the alias of means), joined (alias, relation)
SELECT
  m.label
  , "j1"."sex"
  , "j2"."land"
  , "m"."net ""income"""
  , m.n
FROM "staging"."means" AS m
JOIN "staging"."modes_1" AS "j1" USING (label)
JOIN "staging"."modes_2" AS "j2" USING (label)
