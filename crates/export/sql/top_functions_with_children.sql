-- The 20 functions of each event with the most weight, including the functions that they called: the rows of
-- `rprof report --children --sort symbol`.
WITH selected AS (
    -- To narrow it: WHERE machine = 'build-7' AND date = '2026-11-24'
    SELECT event, stack_hash, weight FROM samples
), counted AS (
    SELECT s.event, s.stack_hash, count(*) AS samples, sum(CAST(s.weight AS DECIMAL(38, 0))) AS weight
    FROM selected s
    GROUP BY s.event, s.stack_hash
), totals AS (
    SELECT c.event, sum(c.weight) AS total FROM counted c GROUP BY c.event
), in_stacks AS (
    SELECT DISTINCT k.stack_hash, f.function, f.level, f.is_inlined
    FROM stack_frames k
    JOIN frames f ON f.frame_hash = k.frame_hash
), functions AS (
    SELECT c.event, i.function, i.level, i.is_inlined, sum(c.samples) AS samples, sum(c.weight) AS weight
    FROM counted c
    JOIN in_stacks i ON i.stack_hash = c.stack_hash
    GROUP BY c.event, i.function, i.level, i.is_inlined
), ranked AS (
    SELECT event, function, level, is_inlined, samples, weight, row_number() OVER (
        PARTITION BY event ORDER BY weight DESC, function NULLS LAST, level, is_inlined
    ) AS place
    FROM functions
)
SELECT r.event, r.function, r.level, r.is_inlined, r.samples, r.weight, 100e0 * r.weight / nullif(t.total, 0) AS percent
FROM ranked r
JOIN totals t ON t.event = r.event
WHERE r.place <= 20
ORDER BY r.event, r.place;
