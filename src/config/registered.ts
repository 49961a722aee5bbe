/** What a build has, by the names that the configuration may use for it. Its registries stand above the configuration
 *  in the order of imports, so they come in as these. */
export type Registered<Entry = unknown> = ReadonlyMap<string, Entry>

/** What the configuration asks of a provider. */
export interface RegisteredProvider {
  /** It has no address of its own: `api_base` says where it is. */
  readonly needsAddress?: true
}

export interface Registries {
  readonly providers: Registered<RegisteredProvider>
  readonly strategies: Registered
}
