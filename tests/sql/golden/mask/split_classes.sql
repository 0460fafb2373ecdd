-- title: How many classes of one level are in more than one class of the next
-- source: Samarati (2001): a level of a hierarchy holds the one below it
-- reads: ladder
-- returns: one row: split
-- params: ladder, lower, upper
SELECT count(*) AS split
FROM (
  SELECT "code_1"
  FROM "staging"."ladder"
  GROUP BY "code_1"
  HAVING count(DISTINCT "code_2") > 1)
