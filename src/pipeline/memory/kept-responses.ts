import { gunzipText, gzipText, unpackedBytes } from '../../lib/bytes/gzip-text.ts'
import { asList, asRecord, asText, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { Seal } from '../../lib/sealing/seal.ts'
import { type Key, keptResponsesKey, responseKey } from '../../stores/kv/keys.ts'
import type { SharedStore } from '../../stores/kv/shared-store.ts'
import type { StoredValue } from '../../stores/kv/stored-value.ts'
import type { Tenant } from '../caller.ts'

/** An answer that the gateway keeps, with the conversation that led to it. */
export interface KeptResponse {
  /** As its client got it. */
  readonly answer: JsonRecord
  /** Everything before the answer, from the first item on. */
  readonly input: readonly JsonRecord[]
  /** The deployment that answered. */
  readonly deployment: string
  /** Where the cache has the answer; undefined if the call did not use the cache. */
  readonly cachedAt: Key | undefined
}

/** The memory of answers. Each belongs to one tenant, and no other finds it. */
export interface KeptResponses {
  /** undefined if nothing is kept. */
  readonly retentionSeconds: number | undefined
  /** The longest conversation that is kept. */
  readonly mostCharacters: number
  /** An answer as a settlement stores it. */
  stored(tenant: Tenant, id: string, response: KeptResponse): Promise<StoredValue>
  /** Reads a stored text; undefined if it is damaged, was sealed under another key, or belongs to another organization.
   *  Calls `arrived` before unpacking so many bytes; an error of it is the rejection. */
  read(tenant: Tenant, id: string, text: string, arrived?: (bytes: number) => void): Promise<KeptResponse | undefined>
  /** Forgets a response, also where the cache would repeat it: an answer must not name a response that is gone. */
  remove(tenant: Tenant, id: string, response: KeptResponse): Promise<void>
}

interface Settings {
  readonly responses_retention: number
  readonly responses_max_bytes: number
  readonly responses_max_total_bytes: number
}

/** Answers are sealed under the salt key, so that the store does not show what was said. Without a salt key, which only
 *  gateways without a database have, they are stored as they are. */
export function keptResponses(store: SharedStore, seal: Seal | undefined, settings: Settings): KeptResponses {
  const { responses_retention: ttlSeconds, responses_max_bytes, responses_max_total_bytes: most } = settings

  async function opened(tenant: Tenant, id: string, text: string): Promise<string | undefined> {
    try {
      return seal ? await seal.open(text, responseKey(tenant.name, id)) : text
    } catch {
      return undefined
    }
  }

  async function read(
    tenant: Tenant,
    id: string,
    text: string,
    arrived?: (bytes: number) => void,
  ): Promise<KeptResponse | undefined> {
    const packed = await opened(tenant, id, text)
    if (packed === undefined) return undefined
    arrived?.(unpackedBytes(packed))
    const record = parseRecord((await gunzipText(packed)) ?? '')
    // Earlier builds, which may run beside this one, note no organization.
    if (!record || (record.organization ?? tenant.organization) !== tenant.organization) return undefined
    return {
      answer: asRecord(record.answer),
      input: asList(record.input).map(asRecord),
      deployment: asText(record.deployment),
      cachedAt: record.cachedAt as Key | undefined,
    }
  }

  return {
    retentionSeconds: ttlSeconds > 0 ? ttlSeconds : undefined,
    mostCharacters: responses_max_bytes,
    async stored(tenant, id, response) {
      const key = responseKey(tenant.name, id)
      const packed = await gzipText(JSON.stringify({ ...response, organization: tenant.organization }))
      const text = seal ? await seal.close(packed, key) : packed
      return { key, text, ttlSeconds, meter: { key: keptResponsesKey(tenant.name), most } }
    },
    read,
    remove: (tenant, id, { cachedAt }) =>
      store.remove(responseKey(tenant.name, id), ...(cachedAt === undefined ? [] : [cachedAt])),
  }
}
