import { digestOf } from '../../lib/crypto.ts'

/** What every provider accepts as the length of a function's name. */
const LONGEST = 64
const DIGEST = 8

/** The names under which models and clients know the tools of a server. A tool whose own name is fit for one keeps it. Where
 *  several come out the same, or too long, a digest of their own names is added: their order does not matter. */
export function publicNames(key: string, names: readonly string[]): ReadonlyMap<string, string> {
  const own = [...new Set(names)]
  const plain = (name: string) => `${key}__${name.replace(/[^A-Za-z0-9_-]/g, '_')}`
  const sharing = new Map<string, number>()
  for (const name of own) sharing.set(plain(name), (sharing.get(plain(name)) ?? 0) + 1)
  const fit = (name: string) => plain(name).length <= LONGEST && (isFit(name) || sharing.get(plain(name)) === 1)

  const taken = new Set(own.filter(fit).map(plain))
  const found = new Map(own.filter(fit).map((name) => [name, plain(name)]))
  for (const name of own) {
    if (found.has(name)) continue
    const digested = `${plain(name).slice(0, LONGEST - DIGEST - 1)}_${digestOf(name).slice(0, DIGEST)}`
    // Only a server that tries to can have a name that is taken: its tool has none.
    if (taken.has(digested)) continue
    taken.add(digested)
    found.set(name, digested)
  }
  return found
}

const isFit = (name: string) => /^[A-Za-z0-9_-]+$/.test(name)
