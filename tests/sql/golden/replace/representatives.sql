-- title: The representative of every group: means, and the values taken column by column
-- source: Domingo-Ferrer & Torra (2005)
-- reads: means, others (a relation per ordinal or nominal column)
-- returns: label, the columns
-- params: means, numeric, others (alias, relation, column)
SELECT
  m.label
  , m."x"
  , "o1"."town"
  , "o2"."grade"
FROM "staging"."means" AS m
JOIN "staging"."modes" AS "o1" USING (label)
JOIN "staging"."medians" AS "o2" USING (label)
