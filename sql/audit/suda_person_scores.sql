-- title: The SUDA score of every person that has one: that of the combination that gives her away most
-- source: Elliot, Manning & Ford (2002); sqlmicro: a person is as easily told apart as the easiest of her records
-- reads: scores, units
-- returns: cell (of that combination), score
-- params: scores, units
SELECT cell, score
FROM (
  SELECT s.cell, s.score, row_number() OVER (PARTITION BY u.owner ORDER BY s.score DESC, s.cell) AS place
  FROM {{ scores | ident }} AS s
  JOIN {{ units | ident }} AS u ON s.cell = u.cell)
WHERE place = 1
