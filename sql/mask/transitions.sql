-- title: The probability that a category becomes another: one to stay, the others alike
-- source: Kooiman, Willenborg & Gouweleeuw (1997), PRAM
-- reads: categories
-- returns: source, target (labels), probability
-- params: categories, keep (probability that a value stays)
SELECT
  a.label AS source,
  b.label AS target,
  CASE WHEN a.label = b.label THEN {{ keep | lit }}
    ELSE (1 - {{ keep | lit }}) / (count(*) OVER (PARTITION BY a.label) - 1) END AS probability
FROM {{ categories | ident }} AS a
CROSS JOIN {{ categories | ident }} AS b
