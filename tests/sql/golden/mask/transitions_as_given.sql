-- title: The probability that a category becomes another, as a matrix says
-- source: Kooiman, Willenborg & Gouweleeuw (1997), PRAM
-- reads: nothing
-- returns: source, target (labels from 1), probability
-- params: matrix
WITH given AS (
  SELECT
    unnest(range(1, len([[0.9, 0.1], [1.0, 0.0]]) + 1)) AS source,
    unnest([[0.9, 0.1], [1.0, 0.0]]) AS probabilities
)
SELECT
  source,
  unnest(range(1, len(probabilities) + 1)) AS target,
  CAST(unnest(probabilities) AS DOUBLE) AS probability
FROM given
