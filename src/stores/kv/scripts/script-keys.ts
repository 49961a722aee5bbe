import { activeKey, budgetKey, deploymentKey, holdKey, type Key, slotKey } from '../keys.ts'

/** Keys that many calls name together. */
export interface SharedKeys {
  readonly keys: readonly Key[]
  /** How a connection writes them, for keys of that prefix. */
  written?: { readonly prefix: string; readonly text: string }
}

export type ScriptKey = Key | SharedKeys

/** More names are not remembered at once. */
const MOST_NAMES = 10_000

/** Makes the keys of a name once: what calls are charged to and where they go comes again with each call. */
function remembered(keysOf: (name: string) => readonly Key[]): (name: string) => SharedKeys {
  let known = new Map<string, SharedKeys>()
  return (name) => {
    let keys = known.get(name)
    if (!keys) {
      if (known.size >= MOST_NAMES) known = new Map()
      keys = { keys: keysOf(name) }
      known.set(name, keys)
    }
    return keys
  }
}

export const slotKeys = remembered((subject) => [slotKey(subject)])
/** The hash of a budget and its holds. */
export const budgetKeys = remembered((subject) => [budgetKey(subject), holdKey(subject)])
/** The hash of a deployment and its attempts in flight. */
export const deploymentKeys = remembered((deployment) => [deploymentKey(deployment), activeKey(deployment)])
