-- How many CPUs the 20 functions that cost most kept busy, by machine and event, over the time from the machine's first
-- sample to its last: of events whose weight is CPU time.
WITH windows AS (
    SELECT machine, event, (max(end_ns) - min(start_ns)) AS length_ns
    FROM recordings
    WHERE unit = 'nanoseconds'
    GROUP BY machine, event
)
SELECT samples.machine, samples.event, function, sum(weight) / any_value(length_ns) AS cores
FROM samples
JOIN windows ON windows.machine IS NOT DISTINCT FROM samples.machine AND windows.event = samples.event
JOIN stacks USING (stack_hash)
JOIN frames ON frame_hash = frame_hashes[1] AND inline_depth = 0
GROUP BY samples.machine, samples.event, function
QUALIFY row_number() OVER (PARTITION BY samples.machine, samples.event ORDER BY cores DESC, function) <= 20
ORDER BY samples.machine, samples.event, cores DESC, function;
