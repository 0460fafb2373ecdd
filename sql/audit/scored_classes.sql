-- title: The SUDA score of every class that has one, and the probability that a match with it is right
-- source: Elliot, Manning, Mayes, Gurd & Bane (2005); Elliot & Manning (2003), DIS-SUDA
-- reads: units (cell, the columns), scores (cell, score), probabilities (score, dis_suda; none without a sampling fraction)
-- returns: the columns, score, dis_suda; where persons are counted, a class of several persons has no score
-- params: units, scores, probabilities, columns
SELECT
  {{ columns | listed("u.{}") }},
  s.score,
  p.dis_suda
FROM {{ scores | ident }} AS s
JOIN {{ units | ident }} AS u ON s.cell = u.cell
LEFT JOIN {{ probabilities | ident }} AS p ON s.score = p.score
