import type * as z from 'zod'
import { accepted } from '../../../config/accepted.ts'
import { isMap } from '../../../config/fields.ts'
import { refuseReferences, sealedSettings } from '../../../stores/sql/records/sealed-settings.ts'
import type { ApiServices } from '../../scope.ts'
import type { AnyKind } from './keyed-kind.ts'
import type { Fields } from './record-fields.ts'

/** Turns a body into columns: checked, with its secrets sealed. */
export function contentsOf(kind: AnyKind, whole: () => z.ZodType) {
  const { secrets } = kind
  const sealing = secrets && sealedSettings({ ...secrets, table: kind.table })
  const names = () => Object.keys(kind.fields())
  return {
    columns: () => (secrets ? [...names(), 'sealed'] : names()),
    async of(services: ApiServices, id: string, sent: Fields, earlier?: Fields): Promise<Fields> {
      if (!secrets || !sealing) return checked(services, id, sent)
      const { column } = secrets
      const given = sent[column]
      refuseReferences(given, column)
      const kept = earlier && { id, settings: earlier[column] as Fields, sealed: String(earlier.sealed) }
      const opened = await sealing.whole(isMap(given) ? given : {}, services.seal, kept)
      const content = await checked(services, id, isMap(given) ? { ...sent, [column]: opened } : sent)
      const { settings, sealed } = await sealing.close(id, opened, services.seal)
      return { ...content, ...(isMap(given) ? { [column]: settings } : {}), sealed }
    },
  }
  async function checked(services: ApiServices, id: string, sent: Fields): Promise<Fields> {
    const accept: Fields = accepted(whole(), { ...sent, [kind.id]: id }) as Fields
    const content = Object.fromEntries(names().map((name) => [name, accept[name] ?? null]))
    await kind.check?.(services, id, content)
    return content
  }
}
