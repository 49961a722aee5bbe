import { sql } from 'kysely'
import { queries, rowsOf } from '../query.ts'
import type { Sql } from '../sql.ts'

/** Where the database keeps which folder has the files of its batches: the folder's id, and a mark that each of its
 *  gateways renews. */
const BATCH_FOLDER = 'batch_folder'

/** The claim on the files of batches, of which one folder at a time has them for all gateways on a database. */
export interface FolderClaims {
  /** Claims them, or renews the claim. Another folder's claim is taken over if it is still `stale`, as an earlier call
   *  gave it. Resolves with the claim that holds now. */
  claim(folderId: string, stale?: string): Promise<string>
  /** Gives a claim up, so that another folder need not wait until it is stale. */
  release(folderId: string): Promise<void>
}

/** Whether a claim is that of a folder. */
export function isClaimOf(folderId: string, claim: string): boolean {
  return claim.startsWith(`${folderId} `)
}

export function folderClaims(database: Sql): FolderClaims {
  const isOf = (folderId: string) => sql<boolean>`split_part(gateway_installation.value, ' ', 1) = ${folderId}`
  return {
    async claim(folderId, stale = '') {
      const [row] = await rowsOf(
        database,
        // An update that changes nothing gives back what another folder holds.
        sql<{ value: string }>`
          INSERT INTO gateway_installation (name, value)
          VALUES (${BATCH_FOLDER}, concat(${folderId}::text, ' ', clock_timestamp()))
          ON CONFLICT (name) DO UPDATE SET value = CASE
            WHEN ${isOf(folderId)} OR gateway_installation.value = ${stale} THEN excluded.value
            ELSE gateway_installation.value END
          RETURNING value`,
      )
      return row?.value ?? ''
    },
    async release(folderId) {
      await rowsOf(
        database,
        queries.deleteFrom('gateway_installation').where('name', '=', BATCH_FOLDER).where(isOf(folderId)),
      )
    },
  }
}
