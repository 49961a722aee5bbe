import { useChange } from '../../data/change.ts'
import { api } from '../../data/client.ts'
import { confirmed, performed } from '../../design/confirmed.ts'
import { ago, count } from '../../design/format.ts'
import { toast } from '../../design/toast.tsx'
import { type Key, nameOf } from './key.ts'
import type { MadeKey } from './key-made.tsx'

const PATHS = ['/ui/api/keys', '/ui/api/teams']

/** The actions that end a key or its secret. Each asks for confirmation, and shows how much the key is used. */
export function useKeyActions(sees: { readonly calls: boolean }) {
  const refreshes = { refreshes: PATHS }
  const regenerated = useChange('POST /ui/api/keys/{key_id}/regenerate', refreshes)
  const revoked = useChange('POST /ui/api/keys/{key_id}/revoke', refreshes)
  const removed = useChange('DELETE /ui/api/keys/{key_id}', refreshes)
  const failed = (error: Error) => void toast(error.message, { bad: true })
  return {
    busy: regenerated.isPending || revoked.isPending || removed.isPending,

    /** The key with its new secret, or undefined if it was not done. */
    async regenerate(key: Key): Promise<MadeKey | undefined> {
      const sure = await confirmed({
        title: `Regenerate ${nameOf(key)}?`,
        body: `The old secret ends at once. ${await useOf(key, sees.calls)}`,
        action: 'Regenerate',
        danger: true,
      })
      if (!sure) return undefined
      return regenerated.mutateAsync({ params: { key_id: key.key_id } }).catch(failed) as Promise<MadeKey | undefined>
    },

    async revoke(key: Key): Promise<boolean> {
      const question = {
        title: `Revoke ${nameOf(key)}?`,
        body: `Its calls are refused from the next one on, for good. ${await useOf(key, sees.calls)}`,
        action: 'Revoke',
        danger: true,
        done: `${nameOf(key)} is revoked.`,
      }
      return performed(question, () => revoked.mutateAsync({ params: { key_id: key.key_id } }))
    },

    async remove(key: Key): Promise<boolean> {
      const question = {
        title: `Delete ${nameOf(key)}?`,
        body: `Its record goes as well; its calls stay in the log, under its id. ${await useOf(key, sees.calls)}`,
        action: 'Delete',
        danger: true,
        typed: nameOf(key),
        done: `${nameOf(key)} is deleted.`,
      }
      return performed(question, () => removed.mutateAsync({ params: { key_id: key.key_id } }))
    },
  }
}

/** The use of the key: when it was used last, and how often in the last day. */
async function useOf(key: Key, calls: boolean): Promise<string> {
  if (key.last_used_at === null) return 'It was never used.'
  const used = `It was used ${ago(key.last_used_at)}`
  if (!calls) return `${used}.`
  const [from, to] = [new Date(Date.now() - 86_400_000).toISOString(), new Date().toISOString()]
  const sums = await api('GET /ui/api/spend/summary', { query: { key_id: key.key_id, from, to } }).catch(
    () => undefined,
  )
  return sums ? `${used}; ${count(sums.total.calls)} calls in the last 24 hours.` : `${used}.`
}
