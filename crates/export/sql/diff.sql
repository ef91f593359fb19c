-- Functions of two selections of recordings: their shares before and after (percent of the event's weight, without what
-- they called), the difference with its 95 % margin, and z, the difference in standard errors. A z beyond 1.96 comes
-- by chance in one of 20 functions, one beyond 3.3 in one of 1,000.
--
-- The noise is that between blocks: recordings, if each side has at least 6; else seconds of recordings, which know
-- nothing of the variation from one run to the next. It is at least that of random sampling. z takes blocks to be
-- independent and their noise to be known: of few blocks it is too sure. Functions with fewer than 10 samples are left
-- out, and so are events that only one side has. What to compare is in the first two items.
WITH old AS (
    SELECT DISTINCT recording FROM recordings WHERE source = 'before.data'
), new AS (
    SELECT DISTINCT recording FROM recordings WHERE source = 'after.data'
), sides AS (
    SELECT 'before' AS side, recording FROM old UNION ALL SELECT 'after' AS side, recording FROM new
), runs AS (
    SELECT min(n) AS fewest FROM (SELECT side, count(*) AS n FROM sides GROUP BY side) by_side
), counted AS (
    SELECT s.event, d.side, s.recording, s.stack_hash,
        CASE WHEN (SELECT fewest FROM runs) >= 6 THEN 0 ELSE coalesce(floor(s.time_ns / 1e9), 0) END AS block,
        count(*) AS samples, sum(CAST(s.weight AS DECIMAL(38, 0))) AS weight, sum(1e0 * s.weight * s.weight) AS squares
    FROM samples s
    JOIN sides d ON d.recording = s.recording
    GROUP BY s.event, d.side, s.recording, s.stack_hash,
        CASE WHEN (SELECT fewest FROM runs) >= 6 THEN 0 ELSE coalesce(floor(s.time_ns / 1e9), 0) END
), blocks AS (
    SELECT event, side, recording, block, sum(c.weight) AS total, sum(c.squares) AS squares
    FROM counted c
    GROUP BY event, side, recording, block
), totals AS (
    SELECT event, side, count(*) AS n, sum(b.total) AS weight, sum(b.squares) AS squares,
        sum(1e0 * b.total * b.total) AS block_squares
    FROM blocks b
    GROUP BY event, side
    HAVING sum(b.total) > 0
), on_both_sides AS (
    SELECT event FROM totals GROUP BY event HAVING count(*) = 2
), in_blocks AS (
    SELECT c.event, c.side, c.recording, c.block, f.function, f.level,
        sum(c.samples) AS samples, sum(c.weight) AS weight, sum(c.squares) AS squares
    FROM counted c
    JOIN innermost_functions f ON f.stack_hash = c.stack_hash
    GROUP BY c.event, c.side, c.recording, c.block, f.function, f.level
), functions AS (
    SELECT event, side, i.function, i.level, sum(i.samples) AS samples, sum(i.weight) AS weight,
        sum(i.squares) AS squares, sum(1e0 * i.weight * i.weight) AS block_squares,
        sum(1e0 * i.weight * b.total) AS products
    FROM in_blocks i
    JOIN blocks b USING (event, side, recording, block)
    GROUP BY event, side, i.function, i.level
), shares AS (
    SELECT event, side, f.function, f.level, f.samples, 1e0 * f.weight / t.weight AS share, t.n, t.weight AS total,
        f.squares AS squares, t.squares AS all_squares, f.products, f.block_squares AS block_squares,
        t.block_squares AS all_block_squares
    FROM functions f
    JOIN totals t USING (event, side)
    WHERE event IN (SELECT event FROM on_both_sides)
), noise AS (
    SELECT event, side, function, level, samples, share,
        ((1 - 2 * share) * squares + share * share * all_squares) / total / total AS of_samples,
        CASE WHEN n > 1 THEN n / (n - 1e0) / total / total
            * (block_squares - 2 * share * products + share * share * all_block_squares) ELSE 0e0 END AS of_blocks
    FROM shares
), compared AS (
    SELECT event, function, level, sum(samples) AS samples,
        sum(CASE WHEN side = 'before' THEN share ELSE 0e0 END) AS share_before,
        sum(CASE WHEN side = 'after' THEN share ELSE 0e0 END) AS share_after,
        sum(CASE WHEN of_blocks > of_samples THEN of_blocks ELSE of_samples END) AS variance
    FROM noise
    GROUP BY event, function, level
)
SELECT event, function, level, 100 * share_before AS percent_before, 100 * share_after AS percent_after,
    100 * (share_after - share_before) AS change,
    CASE WHEN variance > 1e-15 THEN 196 * sqrt(variance) ELSE 0e0 END AS margin,
    CASE WHEN variance > 1e-15 THEN (share_after - share_before) / sqrt(variance) END AS z
FROM compared
WHERE samples >= 10
ORDER BY event, abs(share_after - share_before) DESC, function NULLS LAST, level;
