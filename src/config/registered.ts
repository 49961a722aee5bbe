/** The entries of a registry by the names that the configuration uses. The registries are passed in: the configuration
 *  may not import them. */
export type Registered<Entry = unknown> = ReadonlyMap<string, Entry>

/** The facts about a provider that the configuration needs. */
export interface RegisteredProvider {
  /** The provider has no default address: `api_base` is required. */
  readonly needsAddress?: true
  /** By the kinds of requests that it takes. */
  readonly adapters: Readonly<Partial<Record<string, unknown>>>
}

export interface Registries {
  readonly providers: Registered<RegisteredProvider>
  readonly strategies: Registered
}
