-- title: How many values of a column occur in another one, of a sample of its distinct values
-- source: De Marchi, Lopes & Petit (2009), inclusion dependencies; 0, -1 and empty text stand for none in many programs
-- reads: child, parent
-- returns: sampled (distinct values), contained (those that occur in the parent)
-- params: child, parent, column (of the child), key (of the parent), every (how many distinct values one is taken of),
--   most (values)
WITH sampled AS (
  SELECT DISTINCT c."net ""income""" AS drawn
  FROM "staging"."orders" AS c
  WHERE CAST(c."net ""income""" AS VARCHAR) NOT IN ('', '0', '-1') AND hash(c."net ""income""") % 1 = 0
  ORDER BY hash(drawn)
  LIMIT 10)
SELECT
  (SELECT count(*) FROM sampled) AS sampled,
  (SELECT count(*)
    FROM sampled
    SEMI JOIN "staging"."persons" AS p ON sampled.drawn = p."x") AS contained
