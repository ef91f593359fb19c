-- Functions by release of a program or library: their share (with what they called) of the samples in which the
-- release runs, the change since the release before, and z, the change in standard errors. A release is a build id of
-- the module; releases are ordered by their first samples. Functions that never have the share wanted are left out.
--
-- z is that of random sampling: it takes samples to be independent, and knows nothing of other machines, other days or
-- other work. Recordings that do not say what time it was are left out.
WITH wanted AS (
    SELECT 'program' AS module, 1 AS percent
), counted AS (
    -- To narrow it: AND s.machine = 'build-7' AND s.date >= '2026-11-01'
    SELECT s.event, s.stack_hash, sum(CAST(s.weight AS DECIMAL(38, 0))) AS weight,
        sum(1e0 * s.weight * s.weight) AS squares, min(s.time_ns) AS first_ns
    FROM samples s
    WHERE s.recording IN (SELECT recording FROM recordings WHERE wall_offset_ns IS NOT NULL)
    GROUP BY s.event, s.stack_hash
), built AS (
    SELECT k.stack_hash, min(f.build_id) AS build_id
    FROM stack_frames k
    JOIN frames f ON f.frame_hash = k.frame_hash
    WHERE f.module IN (SELECT module FROM wanted) AND f.build_id IS NOT NULL
    GROUP BY k.stack_hash
), totals AS (
    SELECT c.event, b.build_id, sum(c.weight) AS weight, sum(c.squares) AS squares, min(c.first_ns) AS first_ns
    FROM counted c
    JOIN built b ON b.stack_hash = c.stack_hash
    GROUP BY c.event, b.build_id
), releases AS (
    SELECT event, build_id, weight, squares, first_ns,
        row_number() OVER (PARTITION BY event ORDER BY first_ns NULLS LAST, build_id) AS release
    FROM totals
), in_stacks AS (
    SELECT DISTINCT b.stack_hash AS stack_hash, b.build_id AS build_id, f.function AS function, f.level AS level
    FROM built b
    JOIN stack_frames k ON k.stack_hash = b.stack_hash
    JOIN frames f ON f.frame_hash = k.frame_hash
), functions AS (
    SELECT c.event, i.build_id, i.function, i.level, sum(c.weight) AS weight, sum(c.squares) AS squares
    FROM counted c
    JOIN in_stacks i ON i.stack_hash = c.stack_hash
    GROUP BY c.event, i.build_id, i.function, i.level
), large AS (
    SELECT DISTINCT f.event AS event, f.function AS function, f.level AS level
    FROM functions f
    JOIN releases r ON r.event = f.event AND r.build_id = f.build_id
    WHERE 100e0 * f.weight / nullif(r.weight, 0) >= (SELECT percent FROM wanted)
), every_release AS (
    -- In releases without the function its share is 0.
    SELECT l.event AS event, l.function AS function, l.level AS level, r.release AS release,
        r.build_id AS build_id, r.first_ns AS first_ns, r.weight AS total, r.squares AS all_squares,
        coalesce(f.weight, 0) AS weight, coalesce(f.squares, 0) AS squares
    FROM large l
    JOIN releases r ON r.event = l.event
    LEFT JOIN functions f ON f.event = l.event AND f.build_id = r.build_id AND f.level = l.level
        AND coalesce(f.function, '') = coalesce(l.function, '')
), shares AS (
    SELECT event, function, level, release, build_id, first_ns, squares, all_squares, total,
        1e0 * weight / nullif(total, 0) AS share
    FROM every_release
), noise AS (
    SELECT event, function, level, release, build_id, first_ns, share,
        ((1 - 2 * share) * squares + share * share * all_squares) / nullif(total, 0) / nullif(total, 0) AS variance
    FROM shares
), changes AS (
    SELECT n.event AS event, n.function AS function, n.level AS level, n.release AS release,
        n.build_id AS build_id, n.first_ns AS first_ns, n.share AS share, n.share - o.share AS change,
        n.variance + o.variance AS variance
    FROM noise n
    LEFT JOIN noise o ON o.event = n.event AND o.level = n.level AND o.release = n.release - 1
        AND coalesce(o.function, '') = coalesce(n.function, '')
)
SELECT event, function, level, release, build_id, first_ns, 100 * share AS percent, 100 * change AS change_points,
    CASE WHEN variance > 1e-15 THEN change / sqrt(variance) END AS z
FROM changes
ORDER BY event, change DESC NULLS LAST, function NULLS LAST, level, release;
