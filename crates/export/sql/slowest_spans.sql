-- The 20 slowest spans of each name that have samples, and the function that samples in each have most weight of, with its
-- share: what a slow request did. Spans are those of rprof record --span. Samples in a span inside of another count for
-- the inner one. In tables that were written with rprof export --wall, weights are the time of threads, waits included.
WITH selected AS (
    -- To narrow it: AND machine = 'build-7' AND span = 'request'
    SELECT machine, recording, event, tid, span, span_start_ns, span_ns, stack_hash,
        CAST(weight AS DECIMAL(38, 0)) AS weight
    FROM samples
    WHERE span IS NOT NULL
), spans AS (
    SELECT s.machine, s.recording, s.event, s.tid, s.span, s.span_start_ns, s.span_ns, count(*) AS samples,
        sum(s.weight) AS weight
    FROM selected s
    GROUP BY s.machine, s.recording, s.event, s.tid, s.span, s.span_start_ns, s.span_ns
), ranked AS (
    SELECT machine, recording, event, tid, span, span_start_ns, span_ns, samples, weight, row_number() OVER (
        PARTITION BY event, span ORDER BY span_ns DESC, recording, tid, span_start_ns
    ) AS place
    FROM spans
), slowest AS (
    SELECT machine, recording, event, tid, span, span_start_ns, span_ns, samples, weight, place
    FROM ranked
    WHERE place <= 20
), functions AS (
    SELECT k.recording AS recording, k.event AS event, k.tid AS tid, k.span AS span,
        k.span_start_ns AS span_start_ns, f.function AS function, sum(k.weight) AS weight
    FROM selected k
    JOIN slowest w ON w.recording = k.recording AND w.event = k.event AND w.tid = k.tid AND w.span = k.span
        AND w.span_start_ns = k.span_start_ns
    LEFT JOIN innermost_functions f ON f.stack_hash = k.stack_hash
    GROUP BY k.recording, k.event, k.tid, k.span, k.span_start_ns, f.function
), heaviest AS (
    SELECT recording, event, tid, span, span_start_ns, function, weight, row_number() OVER (
        PARTITION BY recording, event, tid, span, span_start_ns ORDER BY weight DESC, function NULLS LAST
    ) AS place
    FROM functions
)
SELECT w.event, w.span, w.machine, w.recording, w.tid, w.span_start_ns, 1e-6 * w.span_ns AS ms, w.samples, w.weight,
    h.function, 100e0 * h.weight / nullif(w.weight, 0) AS percent
FROM slowest w
JOIN heaviest h ON h.recording = w.recording AND h.event = w.event AND h.tid = w.tid AND h.span = w.span
    AND h.span_start_ns = w.span_start_ns
WHERE h.place = 1
ORDER BY w.event, w.span, w.place;
