-- title: The one record that every member of a group becomes
-- source: Höhne, SAFE: unification, nominal columns by their mode, numeric ones by their mean
-- reads: means, modes (a relation per nominal column)
-- returns: label, the columns, n
-- params: means, modes (alias, relation, column), numeric
SELECT
  m.label
  , "m1"."sex"
  , "m2"."land"
  , m."net ""income"""
  , m.n
FROM "staging"."means" AS m
JOIN "staging"."modes_1" AS "m1" USING (label)
JOIN "staging"."modes_2" AS "m2" USING (label)
