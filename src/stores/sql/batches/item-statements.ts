import type { EndedItem, ReleasedItem } from './claimed-items.ts'
import { UNFINISHED_STATUSES } from './unfinished.ts'

// Static text: statements that run for every few items, with locks in an order that is read best as they run. Claims
// and completions lock the batch before its items, and several batches in the order of their ids; an item that another
// statement has locked is passed over. So no two of them wait for one another.

/** A batch of which something can be claimed now. */
const CLAIMABLE = `b.status = 'in_progress' AND b.due_at <= now() AND b.expires_at > now()
  AND (b.next_item < b.requests OR EXISTS (
    SELECT FROM gateway_batch_item i WHERE i.batch_id = b.batch_id AND i.state = 'open' AND i.due_at <= now()))`

export const CLAIM = `
  WITH owned AS (
    SELECT b.batch_id, b.served_at, (b.batch_id <> ALL($4::text[]) AND ${CLAIMABLE}) AS claimable,
      max(b.served_at)
        OVER (PARTITION BY coalesce('team ' || b.team_id, 'key ' || b.key_id)) AS owner_served_at
    FROM gateway_batch b WHERE b.status = 'in_progress'
  ), batch AS MATERIALIZED (
    SELECT b.batch_id, b.next_item, b.requests, b.served_at, b.in_progress_at FROM gateway_batch b
    WHERE b.batch_id = (SELECT batch_id FROM owned WHERE claimable ORDER BY owner_served_at, served_at LIMIT 1)
      AND b.status = 'in_progress'
    FOR UPDATE
  ), waiting AS MATERIALIZED (
    SELECT i.item, i.due_at FROM gateway_batch_item i
    WHERE i.batch_id = (SELECT batch_id FROM batch) AND i.state = 'open' AND i.due_at <= now()
    ORDER BY i.due_at, i.item LIMIT $2 FOR UPDATE SKIP LOCKED
  ), again AS (
    UPDATE gateway_batch_item i SET token = $1, due_at = now() + $3 * interval '1 second'
    FROM waiting WHERE i.batch_id = (SELECT batch_id FROM batch) AND i.item = waiting.item
    RETURNING i.batch_id, i.item, i.tries, i.line, i.starts_at, i.length, waiting.due_at AS due_at
  ), stretch AS MATERIALIZED (
    SELECT batch_id, next_item AS first, served_at, in_progress_at,
      least(requests, next_item + $2::integer - (SELECT count(*)::integer FROM waiting)) AS until
    FROM batch
  ), served AS (
    UPDATE gateway_batch b SET next_item = stretch.until, served_at = clock_timestamp()
    FROM stretch WHERE b.batch_id = stretch.batch_id
  ), fresh AS (
    INSERT INTO gateway_batch_item (batch_id, item, token, due_at)
    SELECT batch_id, item, $1, now() + $3 * interval '1 second'
    FROM stretch, generate_series(first, until - 1) AS item
    RETURNING batch_id, item, tries, line, starts_at, length
  ), claimed AS (
    SELECT again.* FROM again
    UNION ALL SELECT fresh.*, greatest(served_at, in_progress_at) FROM fresh, stretch
  )
  SELECT stretch.batch_id, item, tries, line, starts_at, length,
    coalesce(extract(epoch FROM now() - claimed.due_at) * 1000, 0)::float8 AS waited_ms
  FROM stretch LEFT JOIN claimed ON true ORDER BY item`

export const PLAN = `
  SELECT b.endpoint, b.key_id, b.input_file_id, f.bytes, b.requests, b.checkpoints
  FROM gateway_batch b LEFT JOIN gateway_file f ON f.file_id = b.input_file_id
  WHERE b.batch_id = $1`

const KEYS = '$1::text[], $2::integer[], $3::text[]'

/** Extends leases. An ended one can be extended only while its batch runs: once its files are written, nothing may
 *  run. */
export const RENEW = `
  UPDATE gateway_batch_item i SET due_at = now() + $4 * interval '1 second'
  FROM (
    SELECT i.batch_id, i.item FROM unnest(${KEYS}) AS mine (batch_id, item, token)
      JOIN gateway_batch b ON b.batch_id = mine.batch_id
      JOIN gateway_batch_item i ON i.batch_id = mine.batch_id AND i.item = mine.item AND i.token = mine.token
    WHERE i.state = 'open' AND (b.status = 'in_progress' OR i.due_at > now())
    FOR UPDATE OF i SKIP LOCKED
  ) AS held
  WHERE i.batch_id = held.batch_id AND i.item = held.item`

export const ENDED = [
  ['line', 'integer'],
  ['startsAt', 'bigint'],
  ['length', 'integer'],
  ['customId', 'text'],
  ['failed', 'boolean'],
  ['status', 'integer'],
  ['errorCode', 'text'],
  ['callId', 'text'],
  ['model', 'text'],
  ['inputTokens', 'bigint'],
  ['cachedInputTokens', 'bigint'],
  ['outputTokens', 'bigint'],
  ['reasoningTokens', 'bigint'],
  ['costNano', 'bigint'],
  ['text', 'text'],
] as const satisfies readonly (readonly [keyof EndedItem, string])[]

export const RELEASED = [
  ['tries', 'integer'],
  ['line', 'integer'],
  ['startsAt', 'bigint'],
  ['length', 'integer'],
  ['delayMs', 'float8'],
  ['lastError', 'text'],
] as const satisfies readonly (readonly [keyof ReleasedItem, string])[]

type Columns = readonly (readonly [string, string])[]
const arraysOf = (columns: Columns) => columns.map(([, type], index) => `$${4 + index}::${type}[]`).join(', ')
const namesOf = (columns: Columns) => columns.map(([name]) => `"${name}"`).join(', ')

export const COMPLETE = `
  WITH ended AS MATERIALIZED (
    SELECT * FROM unnest(${KEYS}, ${arraysOf(ENDED)}) AS ended (batch_id, item, token, ${namesOf(ENDED)})
  ), batch AS MATERIALIZED (
    SELECT b.batch_id, b.status FROM gateway_batch b
    WHERE b.batch_id = ANY($1::text[]) AND b.status IN ('in_progress', 'finalizing', 'cancelling')
    ORDER BY b.batch_id FOR UPDATE
  ), done AS (
    UPDATE gateway_batch_item i
    SET state = CASE WHEN failed THEN 'failed' ELSE 'completed' END, token = NULL, ended_at = now(), last_error = NULL,
      line = ended.line, starts_at = ended."startsAt", length = ended.length, custom_id = ended."customId",
      status = ended.status, error_code = ended."errorCode", call_id = ended."callId",
      input_tokens = ended."inputTokens", output_tokens = ended."outputTokens", cost_nano = ended."costNano"
    FROM ended JOIN batch USING (batch_id)
    WHERE i.batch_id = ended.batch_id AND i.item = ended.item AND i.token = ended.token AND i.state = 'open'
      AND (batch.status = 'in_progress' OR i.due_at > now())
    RETURNING i.batch_id, i.item, failed, model, "inputTokens", "cachedInputTokens", "outputTokens",
      "reasoningTokens", "costNano", text
  ), kept AS (
    INSERT INTO gateway_batch_result (batch_id, item, failed, text) SELECT batch_id, item, failed, text FROM done
  ), sums AS (
    SELECT batch_id, count(*) FILTER (WHERE NOT failed)::integer AS completed,
      count(*) FILTER (WHERE failed)::integer AS failed, sum("inputTokens") AS input,
      sum("cachedInputTokens") AS cached, sum("outputTokens") AS output, sum("reasoningTokens") AS reasoning,
      coalesce(sum("costNano"), 0) AS cost, min(model) AS model, min(model) <> max(model) AS several
    FROM done GROUP BY batch_id
  ), counted AS (
    UPDATE gateway_batch b
    SET completed = b.completed + sums.completed, failed = b.failed + sums.failed,
      input_tokens = b.input_tokens + input, cached_input_tokens = b.cached_input_tokens + cached,
      output_tokens = b.output_tokens + output, reasoning_tokens = b.reasoning_tokens + reasoning,
      cost_nano = b.cost_nano + cost,
      model = CASE WHEN sums.model IS NULL THEN b.model
        WHEN several OR coalesce(b.model, sums.model) <> sums.model THEN '' ELSE sums.model END,
      status = CASE WHEN ${isOver('b.completed + sums.completed + b.failed + sums.failed')} THEN 'finalizing' ELSE b.status END,
      outcome = CASE WHEN ${isOver('b.completed + sums.completed + b.failed + sums.failed')} THEN 'completed' ELSE b.outcome END,
      finalizing_at = CASE WHEN ${isOver('b.completed + sums.completed + b.failed + sums.failed')} THEN now() ELSE b.finalizing_at END
    FROM sums WHERE b.batch_id = sums.batch_id
  )
  SELECT batch_id, item FROM done`

function isOver(ended: string): string {
  return `(b.status = 'in_progress' AND ${ended} >= b.requests)`
}

export const NAME_BLOBS = `
  INSERT INTO gateway_batch_blob (batch_id, item) SELECT * FROM unnest($1::text[], $2::integer[]) ON CONFLICT DO NOTHING`

export const RELEASE = `
  UPDATE gateway_batch_item i
  SET token = NULL, due_at = now() + "delayMs" * interval '1 millisecond', tries = back.tries,
    last_error = coalesce("lastError", i.last_error), line = coalesce(back.line, i.line),
    starts_at = coalesce("startsAt", i.starts_at), length = coalesce(back.length, i.length)
  FROM unnest(${KEYS}, ${arraysOf(RELEASED)}) AS back (batch_id, item, token, ${namesOf(RELEASED)})
  WHERE i.batch_id = back.batch_id AND i.item = back.item AND i.token = back.token AND i.state = 'open'`

export const POSTPONE = `
  UPDATE gateway_batch SET due_at = greatest(due_at, now() + $2 * interval '1 millisecond')
  WHERE batch_id = $1 AND status = 'in_progress'`

export const ADVANCE = `
  UPDATE gateway_batch b
  SET status = 'finalizing', finalizing_at = now(), lease_token = NULL, lease_until = NULL,
    outcome = CASE WHEN ${isOver('b.completed + b.failed')} THEN 'completed' ELSE 'expired' END
  WHERE status IN ('validating', 'in_progress') AND (expires_at <= now() OR ${isOver('b.completed + b.failed')})`

export const OUTLOOK = `
  SELECT count(*)::integer AS active,
    (extract(epoch FROM min(CASE
      WHEN b.status = 'in_progress' AND b.due_at > now() THEN least(b.due_at, b.expires_at)
      WHEN b.status = 'in_progress' AND b.next_item >= b.requests THEN coalesce((
        SELECT min(i.due_at) FROM gateway_batch_item i WHERE i.batch_id = b.batch_id AND i.state = 'open'), now())
      ELSE greatest(now(), coalesce(b.lease_until, now())) END) - now()) * 1000)::float8 AS next_ms
  FROM gateway_batch b WHERE b.status IN (${UNFINISHED_STATUSES.map((status) => `'${status}'`).join(', ')})`
