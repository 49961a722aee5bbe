import { type Selectable, sql } from 'kysely'
import { batchOf, queries, rowsOf } from '../query.ts'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { type BatchOwner, ownedBy, ownerColumns } from './batch-owner.ts'
import { UNFINISHED } from './unfinished.ts'

type Row = Selectable<Schema['gateway_file']>

export type FilePurpose = Row['purpose']

const SHOWN = [
  'file_id',
  'purpose',
  'filename',
  'bytes',
  'sha256',
  'lines',
  'managed_tools_line',
  'created_at',
  'expires_at',
] as const

/** A file whose content is complete. */
export type FileRecord = Pick<Row, (typeof SHOWN)[number]>

/** What is known of a file's content once it was read. */
export interface FileContent {
  readonly bytes: number
  /** In hexadecimal digits; null for a file that was written in parts by several processes. */
  readonly sha256: string | null
  /** How many of its lines are not blank. */
  readonly lines: number
  /** The first line that asks for managed tools. */
  readonly managedToolsLine: number | null
}

export interface FilePage {
  readonly purpose?: FilePurpose | undefined
  readonly limit: number
  /** The id of the last file of the page before. */
  readonly after?: string | undefined
  readonly order: 'asc' | 'desc'
}

export interface FileRecords {
  /** A file whose content is about to arrive. */
  create(file: {
    readonly fileId: string
    readonly owner: BatchOwner
    readonly filename: string
    readonly retentionSeconds: number
  }): Promise<void>
  /** Its content is complete; from now on it is shown. undefined: it was given up meanwhile. */
  ready(fileId: string, content: FileContent, retentionSeconds: number): Promise<FileRecord | undefined>
  /** Marks a file as removed that never became ready; false if it did. */
  giveUp(fileId: string): Promise<boolean>
  find(fileId: string, owner: BatchOwner): Promise<FileRecord | undefined>
  /** One more than the limit, where there are more. undefined: there is no file `after`. */
  page(owner: BatchOwner, page: FilePage): Promise<FileRecord[] | undefined>
  /** Takes a file from its owner; its content and its row are to be removed then. `in_use`: an unfinished batch reads
   *  it. */
  takeAway(fileId: string, owner: BatchOwner): Promise<'taken' | 'in_use' | 'absent'>
  /** Marks files as removed that have expired, unless an unfinished batch reads them, and abandoned uploads. Resolves
   *  with the ids of some removed files whose content has to be deleted. */
  takeExpired(limit: number): Promise<string[]>
  /** Deletes the rows of removed files. Their content must be deleted before. */
  forget(fileIds: readonly string[]): Promise<void>
}

/** An upload that took longer was killed. */
const LONGEST_UPLOAD = sql`interval '1 day'`

/** After this time a batch is visible that was created at the moment in which its input expired. */
const BEING_MADE = sql`interval '1 minute'`

const inSeconds = (seconds: number) => sql<string>`now() + make_interval(secs => ${seconds})`

const isReadable = sql<boolean>`gateway_file.state = 'ready' AND gateway_file.expires_at > now()`

const isRead = sql<boolean>`EXISTS (
  SELECT FROM gateway_batch WHERE gateway_batch.input_file_id = gateway_file.file_id AND ${UNFINISHED})`

const columnsOf = ({ bytes, sha256, lines, managedToolsLine }: FileContent) => ({
  bytes,
  sha256,
  lines,
  managed_tools_line: managedToolsLine,
})

export function fileRecords(database: Sql): FileRecords {
  const ofOwner = (owner: BatchOwner) => queries.selectFrom('gateway_file').where(ownedBy(owner, 'gateway_file'))

  return {
    async create({ fileId, owner, filename, retentionSeconds }) {
      const row = { file_id: fileId, purpose: 'batch' as const, filename, ...ownerColumns(owner) }
      const values = { ...row, expires_at: inSeconds(retentionSeconds) }
      await rowsOf(database, queries.insertInto('gateway_file').values(values))
    },

    async ready(fileId, content, retentionSeconds) {
      const update = queries
        .updateTable('gateway_file')
        .set({
          ...columnsOf(content),
          state: 'ready',
          expires_at: sql`created_at + make_interval(secs => ${retentionSeconds})`,
        })
        .where('file_id', '=', fileId)
        .where('state', '=', 'uploading')
        .returning(SHOWN)
      return (await rowsOf(database, update))[0]
    },

    async giveUp(fileId) {
      const update = queries
        .updateTable('gateway_file')
        .set({ state: 'removing' })
        .where('file_id', '=', fileId)
        .where('state', '=', 'uploading')
        .returning('file_id')
      return (await rowsOf(database, update)).length > 0
    },

    async find(fileId, owner) {
      const query = ofOwner(owner).select(SHOWN).where('file_id', '=', fileId).where(isReadable)
      return (await rowsOf(database, query))[0]
    },

    async page(owner, { purpose, limit, after, order }) {
      let query = ofOwner(owner)
        .select(SHOWN)
        .where(isReadable)
        .orderBy('created_at', order)
        .orderBy('file_id', order)
        .limit(limit + 1)
      if (purpose !== undefined) query = query.where('purpose', '=', purpose)
      if (after === undefined) return rowsOf(database, query)
      // An expired file is still a valid cursor; a deleted one is not.
      const last = ofOwner(owner).where('file_id', '=', after)
      const beyond = order === 'asc' ? sql`>` : sql`<`
      const following = query.where(
        sql<boolean>`(created_at, file_id) ${beyond} (${last.select('created_at')}, ${after})`,
      )
      const [known, rows] = await batchOf<[unknown, FileRecord]>(database, [last.select('file_id'), following])
      return known.length === 0 ? undefined : rows
    },

    async takeAway(fileId, owner) {
      const readable = ofOwner(owner).select('file_id').where('file_id', '=', fileId).where(isReadable)
      // A batch that is just being made holds the lock; the statement behind it sees that batch.
      const [found, taken] = await batchOf<[unknown, unknown]>(database, [
        readable.forUpdate(),
        queries
          .updateTable('gateway_file')
          .set({ state: 'removing' })
          .where('file_id', '=', fileId)
          .where(ownedBy(owner, 'gateway_file'))
          .where(isReadable)
          .where(sql<boolean>`NOT ${isRead}`)
          .returning('file_id'),
      ])
      if (taken.length > 0) return 'taken'
      return found.length > 0 ? 'in_use' : 'absent'
    },

    async takeExpired(limit) {
      const isOver = sql<boolean>`(state = 'ready' AND expires_at <= now() - ${BEING_MADE} AND NOT ${isRead}
        OR state <> 'ready' AND (state = 'removing' OR created_at <= now() - ${LONGEST_UPLOAD}))`
      const over = queries
        .selectFrom('gateway_file')
        .select('file_id')
        .where(isOver)
        .limit(limit)
        .forUpdate()
        .skipLocked()
      const taken = queries
        .updateTable('gateway_file')
        .set({ state: 'removing' })
        .where('file_id', 'in', over)
        .returning('file_id')
      return (await rowsOf(database, taken)).map(({ file_id }) => file_id)
    },

    async forget(fileIds) {
      const gone = queries.deleteFrom('gateway_file').where('file_id', 'in', fileIds).where('state', '=', 'removing')
      await rowsOf(database, gone)
    },
  }
}
