import type { Result, Router } from 'hono/router'
import { TrieRouter } from 'hono/router/trie-router'

/** Hono's router for paths of every form. It splits every path anew, so that its results for paths without parameters
 *  are cached here. */
export class KeepingRouter<T> implements Router<T> {
  name = 'KeepingRouter'
  readonly #router = new TrieRouter<T>()
  readonly #fixed = new Set<string>()
  /** By method and path. */
  readonly #kept = new Map<string, Map<string, Result<T>>>()

  add(method: string, path: string, handler: T): void {
    this.#router.add(method, path, handler)
    if (/^[\w./-]+$/.test(path)) this.#fixed.add(path)
    this.#kept.clear()
  }

  match(method: string, path: string): Result<T> {
    return this.#kept.get(method)?.get(path) ?? this.#look(method, path)
  }

  #look(method: string, path: string): Result<T> {
    const found = this.#router.match(method, path)
    // Misses are not kept: a client can invent any number of methods.
    if (found[0].length === 0 || !this.#fixed.has(path)) return found
    const ofMethod = this.#kept.get(method) ?? new Map<string, Result<T>>()
    this.#kept.set(method, ofMethod.set(path, found))
    return found
  }
}
