import type { Fields } from '../../../api/ui/records/record-fields.ts'

/** The admin API of one installation, as its administrator. Commands go through nothing else, so that what they write is
 *  checked, audited and told to every process as if it had come over HTTP. */
export interface AdminApi {
  request(method: Method, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }>
  /** Resolves when everything that the requests left to be done is done. */
  close(): Promise<void>
}

/** The variables of a command. */
export type Environment = Readonly<Record<string, string | undefined>>

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What the admin API answers to a request that it refuses. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number
  /** The field that the refusal is about. */
  readonly param: string | undefined

  constructor(status: number, body: unknown) {
    const { message, param } = Object((body as { error?: unknown } | null)?.error) as Fields
    super(typeof message === 'string' ? message : `the gateway answered ${status}`)
    this.status = status
    this.param = typeof param === 'string' ? param : undefined
  }
}

/** The answer to a request. Throws `Refused`. */
export async function ask(api: AdminApi, method: Method, path: string, body?: unknown): Promise<Fields> {
  const answer = await api.request(method, path, body)
  if (answer.status >= 400) throw new Refused(answer.status, answer.body)
  return answer.body as Fields
}

const MOST_OF_A_PAGE = 200

/** All records of a list. */
export async function all(api: AdminApi, path: string): Promise<Fields[]> {
  const found: Fields[] = []
  const separator = path.includes('?') ? '&' : '?'
  for (let cursor = ''; ; ) {
    const at = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page = await ask(api, 'GET', `${path}${separator}limit=${MOST_OF_A_PAGE}${at}`)
    found.push(...(page.data as Fields[]))
    if (typeof page.next_cursor !== 'string') return found
    cursor = page.next_cursor
  }
}
