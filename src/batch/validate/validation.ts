import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../lib/clock.ts'
import { digestOf } from '../../lib/crypto.ts'
import { GatewayError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Caller } from '../../pipeline/caller.ts'
import { promptMistake } from '../../pipeline/prompt/prompt-mistake.ts'
import type { LiveRegistry } from '../../routing/live/live-registry.ts'
import type { Blobs } from '../../stores/blobs/blobs.ts'
import type { UncheckedBatch, ValidationRecords } from '../../stores/sql/batches/validation-records.ts'
import { type BatchCheckpoint, type BatchError, CHECKPOINT_ITEMS } from '../../stores/sql/schema/batch-schema.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { BatchEndpoints } from '../batch-endpoint.ts'
import { contentKey } from '../batch-ids.ts'
import type { BatchStage } from '../batch-stage.ts'
import { linesOf } from '../lines.ts'
import { reportFinished } from '../report-finished.ts'
import { underLease } from '../under-lease.ts'
import { yielding } from '../yielding.ts'
import { checkLine, type LineRules } from './check-line.ts'

/** After so many mistakes the rest of a file is not read. */
const MOST_ERRORS = 100
const MOST_MODELS_REMEMBERED = 1000

export interface ValidationServices {
  readonly config: Config
  readonly records: ValidationRecords
  readonly blobs: Blobs
  /** The callers of keys as they are at this moment. */
  readonly callers: { currentOrderer(keyId: string): Promise<Caller> }
  readonly live: LiveRegistry
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly endpoints: BatchEndpoints
  readonly log: Log
}

type Checked =
  | { readonly errors: readonly BatchError[] }
  | { readonly errors?: never; readonly requests: number; readonly checkpoints: readonly BatchCheckpoint[] }

/** Reads the whole input of each new batch before anything of it runs. A killed process's validation is done again. */
export function validation(services: ValidationServices): BatchStage {
  const { records, log } = services
  return {
    async step(signal) {
      const token = newId('lease')
      const batch = await records.lease(token)
      if (!batch) return false
      const lease = { batchId: batch.batch_id, token }
      const check = async (leased: AbortSignal) => {
        const checked = await checkInput(services, batch, leased)
        if (!checked.errors) return void (await records.pass(lease, checked))
        const failed = await records.fail(lease, checked.errors)
        if (failed) reportFinished(services, failed)
      }
      await underLease(lease, check, { leases: records, log, signal, failed: 'batch.not_validated' })
      return true
    },
  }
}

async function checkInput(services: ValidationServices, batch: UncheckedBatch, signal: AbortSignal): Promise<Checked> {
  const { config, blobs, callers, live, endpoints } = services
  const { batch_max_lines: mostLines, batch_max_line_bytes: longestLine } = config.general_settings
  const caller = await callerOf(callers, batch.key_id)
  if (caller instanceof GatewayError) return failure(caller.code ?? 'invalid_api_key', caller.message)
  const input = batch.readable ? await blobs.get(contentKey(batch.input_file_id)) : undefined
  if (!input) {
    return failure(
      'file_not_found',
      `The input file '${batch.input_file_id}' was removed or has expired.`,
      'input_file_id',
    )
  }
  await live.attend(() => {})
  const hasDialect = endpoints.get(batch.endpoint)?.endpoint.dialect !== undefined
  // Digests, because ids of 512 characters would be many megabytes.
  const ids = new Set<string>()
  const rules: LineRules = {
    endpoint: batch.endpoint,
    longestLine,
    isNew(customId) {
      const digest = digestOf(customId)
      if (ids.has(digest)) return false
      ids.add(digest)
      return true
    },
    mayCall: callable(live, caller),
    promptMistake: (body) => promptMistake(live.current(), body, hasDialect),
  }
  const errors: BatchError[] = []
  const checkpoints: BatchCheckpoint[] = []
  let requests = 0
  const yieldAfter = yielding()
  for await (const line of linesOf(input.body, longestLine)) {
    signal.throwIfAborted()
    if (requests === mostLines) {
      const message = `The file has more than ${mostLines} requests.`
      errors.push({ code: 'too_many_lines', message, param: null, line: line.line })
      break
    }
    if (requests % CHECKPOINT_ITEMS === 0) checkpoints.push({ offset: line.offset, line: line.line })
    requests += 1
    const mistake = checkLine(line, rules)
    if (mistake) errors.push({ ...mistake, line: line.line })
    if (errors.length === MOST_ERRORS) break
    await yieldAfter(line.length)
  }
  if (requests === 0) return failure('empty_file', 'The input file holds no request.', 'input_file_id')
  return errors.length > 0 ? { errors } : { requests, checkpoints }
}

const failure = (code: string, message: string, param: string | null = null): Checked => ({
  errors: [{ code, message, param, line: null }],
})

/** The caller of a key at this moment, or why there is none. */
async function callerOf(callers: ValidationServices['callers'], keyId: string): Promise<Caller | GatewayError> {
  try {
    return await callers.currentOrderer(keyId)
  } catch (error) {
    if (error instanceof GatewayError && error.failure === 'authentication') return error
    throw error
  }
}

/** Whether a caller may call a model, decided once for each name. */
function callable(live: LiveRegistry, caller: Caller): (model: string) => boolean {
  const known = new Map<string, boolean>()
  return (model) => {
    let may = known.get(model)
    if (may === undefined) {
      const group = live.current().resolve(model)
      may = group !== undefined && caller.mayCall(group)
      if (known.size < MOST_MODELS_REMEMBERED) known.set(model, may)
    }
    return may
  }
}
