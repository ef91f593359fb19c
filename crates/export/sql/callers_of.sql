-- The callers of a function, and the weight of the calls: NULL is the outermost end of a stack, or a caller without a
-- name. A function that calls itself counts once for each caller in a stack.
WITH wanted AS (
    SELECT 'main' AS function
), selected AS (
    -- To narrow it: WHERE machine = 'build-7' AND date = '2026-11-24'
    SELECT event, stack_hash, weight FROM samples
), counted AS (
    SELECT s.event, s.stack_hash, count(*) AS samples, sum(CAST(s.weight AS DECIMAL(38, 0))) AS weight
    FROM selected s
    GROUP BY s.event, s.stack_hash
), callees AS (
    SELECT k.stack_hash, k.position, k.frame_hash, f.inline_depth
    FROM stack_frames k
    JOIN frames f ON f.frame_hash = k.frame_hash
    WHERE f.function IN (SELECT function FROM wanted)
), calls AS (
    -- A function was inlined into the next function of its location, or else called by the next location.
    SELECT DISTINCT c.stack_hash AS stack_hash,
        CASE WHEN same.frame_hash IS NULL THEN f.function ELSE same.function END AS caller
    FROM callees c
    LEFT JOIN frames same ON same.frame_hash = c.frame_hash AND same.inline_depth = c.inline_depth + 1
    LEFT JOIN stack_frames k ON k.stack_hash = c.stack_hash AND k.position = c.position + 1
    LEFT JOIN frames f ON f.frame_hash = k.frame_hash AND f.inline_depth = 0
)
SELECT c.event, calls.caller, sum(c.samples) AS samples, sum(c.weight) AS weight
FROM counted c
JOIN calls ON calls.stack_hash = c.stack_hash
GROUP BY c.event, calls.caller
ORDER BY event, weight DESC, caller NULLS LAST;
