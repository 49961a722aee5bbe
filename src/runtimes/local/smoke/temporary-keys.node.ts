import { type FarEnd, inShort, jsonOf } from './far-end.node.ts'

export interface TemporaryKey {
  readonly id: string
  readonly key: string
}

/** Keys of the gateway that live as long as the test, and an hour at most. */
export interface TemporaryKeys {
  make(limits: Readonly<Record<string, number>>): Promise<TemporaryKey>
  /** What has been made so far, deleted or not. */
  readonly made: readonly TemporaryKey[]
  /** Deletes all that are left. Returns the ids of those that it could not delete. */
  clear(): Promise<readonly string[]>
}

export function temporaryKeys(farEnd: FarEnd, adminKey: string): TemporaryKeys {
  const made: TemporaryKey[] = []
  const left = new Set<string>()
  return {
    made,
    async make(limits) {
      const json = { key_name: 'smoke test', duration: '1h', ...limits }
      const answer = await farEnd.ask({ path: '/ui/api/keys', key: adminKey, json })
      const { key_id: id, key } = (jsonOf(answer) ?? {}) as { key_id?: unknown; key?: unknown }
      if (typeof id === 'string') left.add(id)
      if (answer.status !== 201 || typeof id !== 'string' || typeof key !== 'string') {
        throw new Error(`no temporary key could be made: ${inShort(answer)}`)
      }
      const temporary = { id, key }
      made.push(temporary)
      return temporary
    },
    async clear() {
      for (const id of left) {
        const path = `/ui/api/keys/${encodeURIComponent(id)}`
        const answer = await farEnd.ask({ method: 'DELETE', path, key: adminKey }).catch(() => undefined)
        if (answer && (answer.status < 300 || answer.status === 404)) left.delete(id)
      }
      return [...left]
    },
  }
}
