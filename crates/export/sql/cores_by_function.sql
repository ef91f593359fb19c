-- How many CPUs the 20 functions with the most weight of their own kept busy, by machine and event, while the machine
-- was recorded: each recording counts from its first sample to its last. Of events whose weight is CPU time. Recordings
-- that overlap in time count each.
WITH selected AS (
    -- To narrow it: AND machine = 'build-7' AND date = '2026-11-24'
    SELECT recording, machine, event, end_ns, start_ns
    FROM recordings
    WHERE unit = 'nanoseconds' AND event NOT IN ('offcpu-time', 'wall-time')
), lengths AS (
    SELECT machine, event, sum(CAST(end_ns - start_ns AS DECIMAL(38, 0))) AS length_ns
    FROM selected
    GROUP BY machine, event
), counted AS (
    SELECT s.machine, s.event, s.stack_hash, sum(CAST(s.weight AS DECIMAL(38, 0))) AS weight
    FROM samples s
    WHERE s.recording IN (SELECT recording FROM selected)
    GROUP BY s.machine, s.event, s.stack_hash
), functions AS (
    SELECT c.machine, c.event, f.function, sum(c.weight) AS weight
    FROM counted c
    JOIN innermost_functions f ON f.stack_hash = c.stack_hash
    GROUP BY c.machine, c.event, f.function
), ranked AS (
    SELECT machine, event, function, weight, row_number() OVER (
        PARTITION BY machine, event ORDER BY weight DESC, function NULLS LAST
    ) AS place
    FROM functions
)
SELECT r.machine, r.event, r.function, 1e0 * r.weight / l.length_ns AS cores
FROM ranked r
JOIN lengths l ON coalesce(l.machine, '') = coalesce(r.machine, '') AND l.event = r.event
WHERE r.place <= 20 AND l.length_ns > 0
ORDER BY r.machine NULLS LAST, r.event, r.place;
