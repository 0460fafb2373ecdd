-- title: How many values of a column occur in another one, of a sample of its distinct values
-- source: De Marchi, Lopes & Petit (2009), inclusion dependencies; 0, -1 and empty text stand for none in many programs
-- reads: child, parent
-- returns: sampled (distinct values), contained (those that occur in the parent)
-- params: child, parent, column (of the child), key (of the parent), every (how many distinct values one is taken of),
--   most (values)
WITH sampled AS (
  SELECT DISTINCT c.{{ column.name | ident }} AS drawn
  FROM {{ child | ident }} AS c
  WHERE CAST(c.{{ column.name | ident }} AS VARCHAR) NOT IN ('', '0', '-1') AND hash(c.{{ column.name | ident }}) % {{ every | lit }} = 0
  ORDER BY hash(drawn)
  LIMIT {{ most }})
SELECT
  (SELECT count(*) FROM sampled) AS sampled,
  (SELECT count(*)
    FROM sampled
    SEMI JOIN {{ parent | ident }} AS p ON sampled.drawn = p.{{ key.name | ident }}) AS contained
