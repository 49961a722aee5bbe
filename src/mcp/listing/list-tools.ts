import type { Abort } from '../../lib/abort.ts'
import { asList, type JsonRecord } from '../../lib/json/lenient.ts'
import { plainText } from '../plain-text.ts'
import { RPC_ERRORS } from '../protocol.ts'
import { type Tool, ToolFailure } from '../tool-servers.ts'
import { publicNames } from './public-names.ts'
import { type ListedTool, toolOf } from './tool-of.ts'

const MOST_PAGES = 50
/** A model is told every tool that a call may use, and providers accept 128. */
const MOST_TOOLS = 500
/** What is kept of one server. */
const MOST_CHARACTERS = 1024 * 1024
const MOST_LEFT_OUT = 50

export interface ToolListing {
  readonly tools: readonly Tool[]
  readonly leftOut: readonly LeftOut[]
}

export interface LeftOut {
  readonly name: string
  readonly reason: string
}

/** Reads the list of a server page by page, as far as its bounds allow. `page` asks for one, by the cursor of the page
 *  before. */
export async function listTools(
  server: string,
  page: (params: JsonRecord) => Promise<JsonRecord>,
  signal: Abort,
): Promise<ToolListing> {
  const found: unknown[] = []
  const cursors = new Set<string>()
  let cursor: string | undefined
  for (let pages = 0; pages < MOST_PAGES && found.length <= MOST_TOOLS; pages++) {
    if (signal.aborted) throw signal.reason
    const result = await page(cursor === undefined ? {} : { cursor }).catch(noTools)
    for (const listed of asList(result.tools)) if (found.length <= MOST_TOOLS) found.push(listed)
    // A server that repeats a cursor would be asked for ever.
    if (typeof result.nextCursor !== 'string' || cursors.has(result.nextCursor)) break
    cursor = result.nextCursor
    cursors.add(cursor)
  }
  return listingOf(server, found)
}

/** A server without tools need not know the question. */
function noTools(error: unknown): JsonRecord {
  if (error instanceof ToolFailure && error.rpc?.code === RPC_ERRORS.methodNotFound) return {}
  throw error
}

function listingOf(server: string, found: readonly unknown[]): ToolListing {
  const leftOut: LeftOut[] = []
  const leaveOut = (listed: unknown, reason: string) => {
    if (leftOut.length < MOST_LEFT_OUT) leftOut.push({ name: nameOf(listed), reason })
  }
  const fit = new Map<string, ListedTool>()
  let characters = 0
  for (const listed of found.slice(0, MOST_TOOLS)) {
    const tool = toolOf(server, listed)
    if ('unfit' in tool) leaveOut(listed, tool.unfit)
    else if (fit.has(tool.name)) leaveOut(listed, 'another tool of the list has its name')
    else if (characters + sizeOf(tool) > MOST_CHARACTERS) leaveOut(listed, 'the list is too long')
    else {
      characters += sizeOf(tool)
      fit.set(tool.name, tool)
    }
  }
  if (found.length > MOST_TOOLS) leaveOut(found[MOST_TOOLS], `the server lists more than ${MOST_TOOLS} tools`)
  const names = publicNames(server, [...fit.keys()])
  const tools = [...fit.values()].flatMap((tool): Tool[] => {
    const publicName = names.get(tool.name)
    if (publicName === undefined) leaveOut(tool, 'its name cannot be told from that of another tool')
    return publicName === undefined ? [] : [{ ...tool, publicName }]
  })
  return { tools, leftOut }
}

const sizeOf = (tool: ListedTool) => JSON.stringify(tool).length

function nameOf(listed: unknown): string {
  const { name } = Object(listed) as { readonly name?: unknown }
  return typeof name === 'string' ? plainText(name, 100) : ''
}
