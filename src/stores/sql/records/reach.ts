/** The organizations and teams that a caller may see or change something in. A team within an organization of the list
 *  belongs to it without being named. */
export type Reach = 'everything' | { readonly organizations: readonly string[]; readonly teams: readonly string[] }
