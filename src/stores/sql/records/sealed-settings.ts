import { mistake } from '../../../config/accepted.ts'
import { isMap } from '../../../config/fields.ts'
import { shownAddress } from '../../../lib/addresses/shown-address.ts'
import type { Seal } from '../../../lib/sealing/seal.ts'
import { MASK } from '../../../lib/secret.ts'

export type Settings = Readonly<Record<string, unknown>>

/** A column of settings, some of which are secrets. They are kept in the column `sealed` of the same table, and shown as
 *  MASK: a client that sends it back keeps the stored secret. */
export interface SecretPlaces {
  readonly table: string
  /** '' where the settings are members of a body's own. */
  readonly column: string
  /** Settings that are secrets. */
  readonly fields: readonly string[]
  /** Settings that are maps of secrets: headers. */
  readonly maps: readonly string[]
  /** Settings that are addresses, with masks in the place of secrets in them. */
  readonly addresses?: readonly string[]
  /** The address that receives the secrets. They can be opened only for the address that they were given for. */
  readonly addressOf: (settings: Settings) => string
}

/** Stored settings, with masks instead of secrets. */
export interface Sealed {
  readonly id: string
  readonly settings: Settings
  readonly sealed: string
}

export interface SealedSettings {
  /** Where the secrets of these settings belong, and open alone. */
  placeOf(record: Pick<Sealed, 'id' | 'settings'>): string
  /** The settings with their secrets. Throws if the secrets cannot be opened. */
  open(record: Sealed, seal: Seal): Promise<Settings>
  /** The sent settings, with secrets of the earlier record instead of masks. Throws for a mask without a stored secret,
   *  or with one that was given for another address. */
  whole(sent: Settings, seal: Seal, earlier?: Sealed): Promise<Settings>
  close(id: string, whole: Settings, seal: Seal): Promise<Pick<Sealed, 'settings' | 'sealed'>>
}

export function sealedSettings({
  table,
  column,
  fields,
  maps,
  addresses = [],
  addressOf,
}: SecretPlaces): SealedSettings {
  const placeOf: SealedSettings['placeOf'] = ({ id, settings }) => JSON.stringify([table, id, addressOf(settings)])

  /** `api_key`, `headers.x-api-key`, … with their text. */
  function secretPaths(settings: Settings): [string, string][] {
    const all = [
      ...[...fields, ...addresses].map((field) => [field, settings[field]] as const),
      ...maps.flatMap((map) => {
        const members = settings[map]
        return isMap(members) ? Object.entries(members).map(([name, value]) => [`${map}.${name}`, value] as const) : []
      }),
    ]
    return all.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  }

  function mapSecrets(settings: Settings, replace: (path: string, text: string) => string): Settings {
    const replaced = new Map(secretPaths(settings).map(([path, text]) => [path, replace(path, text)]))
    const members = Object.entries(settings).map(([key, value]): [string, unknown] => {
      if (!maps.includes(key) || !isMap(value)) return [key, replaced.get(key) ?? value]
      const inner = Object.entries(value).map(([name, text]) => [name, replaced.get(`${key}.${name}`) ?? text])
      return [key, Object.fromEntries(inner)]
    })
    return Object.fromEntries(members)
  }

  const isMasked = (path: string, text: string) => text === MASK || (addresses.includes(path) && text.includes(MASK))
  const shown = (path: string, text: string) => (addresses.includes(path) ? shownAddress(text) : MASK)
  const unmasked = (settings: Settings, secrets: ReadonlyMap<string, string>) =>
    mapSecrets(settings, (path, text) => (isMasked(path, text) ? (secrets.get(path) ?? text) : text))

  async function secretsOf(record: Sealed, seal: Seal): Promise<ReadonlyMap<string, string>> {
    const text = await seal.open(record.sealed, placeOf(record))
    return new Map(Object.entries(JSON.parse(text) as Record<string, string>))
  }

  return {
    placeOf,
    open: async (record, seal) => unmasked(record.settings, await secretsOf(record, seal)),
    async whole(sent, seal, earlier) {
      const kept = secretPaths(sent).filter(([path, text]) => isMasked(path, text))
      // Secrets of another salt key cannot be opened, and have to be sent again.
      const none: ReadonlyMap<string, string> = new Map()
      const stored = earlier && kept.length > 0 ? await secretsOf(earlier, seal).catch(() => none) : none
      for (const [path, text] of kept) {
        const field = column === '' ? path : `${column}.${path}`
        const secret = stored.get(path)
        if (secret === undefined || shown(path, secret) !== text)
          throw mistake(field, 'has the mask of a stored secret, and there is none that opens for it; send it whole')
        if (earlier && addressOf(sent) !== addressOf(earlier.settings)) {
          throw mistake(field, 'is stored for another provider or address; send it again with the new one, or null')
        }
      }
      return unmasked(sent, stored)
    },
    close: async (id, whole, seal) => ({
      settings: mapSecrets(whole, shown),
      sealed: await seal.close(
        JSON.stringify(Object.fromEntries(secretPaths(whole))),
        placeOf({ id, settings: whole }),
      ),
    }),
  }
}

/** Refuses references to the environment: writers of records may not read the variables of the process. */
export function refuseReferences(value: unknown, path = ''): void {
  if (typeof value === 'string' && value.startsWith('os.environ/')) {
    throw mistake(path, 'refers to the environment, which only the configuration file can; send the value')
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) refuseReferences(member, path === '' ? key : `${path}.${key}`)
}
