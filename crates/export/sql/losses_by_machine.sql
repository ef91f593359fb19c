-- What the kernel lost, by machine and event, of all that it would have recorded; and how many recordings have a flaw.
-- `lost` is of all that was recorded, and `samples` of what was exported: where a filter left samples out of the
-- tables, the percentage is too high.
WITH selected AS (
    -- To narrow it: WHERE date = '2026-11-24'
    SELECT machine, event, samples, lost, lost_at_least, quality FROM recordings
)
SELECT r.machine, r.event, count(*) AS recordings, sum(r.samples) AS samples,
    sum(CAST(r.lost AS DECIMAL(38, 0))) AS lost,
    100e0 * sum(CAST(r.lost AS DECIMAL(38, 0)))
        / nullif(sum(CAST(r.lost AS DECIMAL(38, 0))) + sum(r.samples), 0) AS percent,
    max(CASE WHEN r.lost_at_least THEN 1 ELSE 0 END) AS at_least,
    sum(CASE WHEN r.quality = 'good' THEN 0 ELSE 1 END) AS flawed
FROM selected r
GROUP BY r.machine, r.event
ORDER BY lost DESC NULLS LAST, machine NULLS LAST, event;
