import { isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { Tool } from '../../mcp/tool-servers.ts'
import type { Deployment, Group } from '../../routing/deployment.ts'
import { sameAccount } from '../../routing/same-account.ts'
import type { Call } from '../call.ts'
import { edited, type Written } from '../request/written-request.ts'
import type { ManagedTools } from './managed-tools.ts'
import type { Offer } from './offer.ts'
import type { ModelTurn, RunTurn, ToolConversation, ToolExecution } from './tool-conversation.ts'

/** A turn that the conversation goes on from. */
interface Said extends RunTurn {
  /** The deployment that answered it. */
  readonly maker: Deployment
}

/** The conversation of a call with its model: what each turn is asked. */
export interface Talk {
  /** Writes the request of the next turn into the call. */
  write(call: Call): void
  /** Adds a turn whose calls have all been run. */
  add(said: Said): void
  /** From now on no managed tool may be called. */
  close(): void
  /** Puts the next turn in plainer terms, for a provider that refused it. False if there are none. */
  plainer(): boolean
  /** The turn was answered as it was put. */
  taken(): void
  /** The deployment of the last turn, if only its provider understands that turn in full. */
  readonly keeper: Deployment | undefined
}

/** The longest description of a function that every provider takes. */
const SHORT = 1024

/** Groups that were found to refuse longer ones. */
const shortFor = new WeakSet<Group>()

const LAST_CALLS = '[No more tools can be called. Answer with what is known by now.]'

/** `begun` is the call as it was admitted, without managed tools. */
export function talkOf(
  conversation: ToolConversation,
  begun: Written & { readonly group: Group },
  { request, own }: ManagedTools,
  offer: Offer,
): Talk {
  const { member } = conversation
  const { group } = begun
  const history = conversation.history(begun.request, () => undefined)
  const said: Said[] = []
  let closed = false
  let isPlain = false
  let isShort = shortFor.has(group)

  const offered = (label: string, name?: string): string[] =>
    [...offer.tools].flatMap(([publicName, { tool, asked }]) =>
      asked.label === label && (name === undefined || tool.name === name) ? [publicName] : [],
    )
  const choice = (): unknown => {
    const { tool_choice: given } = request
    const chosen = conversation.choiceOf?.(given, offered) ?? given
    const free = said.length > 0 ? conversation.unforced(chosen) : chosen
    if (!closed) return free
    if (own.length === 0) return isPlain ? undefined : 'none'
    // A list of allowed tools names those that are not offered any more.
    return isRecord(free) ? undefined : free
  }
  const fixed = (): Record<string, unknown> => {
    const managed = closed && own.length > 0 ? [] : [...offer.tools.values()].map(({ tool }) => tool)
    const shown = isShort ? managed.map(shortened) : managed
    const tools = [...own, ...shown.map(conversation.functionOf)]
    // Some vendors refuse fields about tools without any.
    if (tools.length === 0) return { tools: undefined, tool_choice: undefined, parallel_tool_calls: undefined }
    return { tools, tool_choice: choice() }
  }
  const resultsOf = ({ executions }: Said, isLast: boolean): readonly JsonRecord[] => {
    const shown = isPlain ? executions.map(withoutImages) : executions
    return conversation.results(closed && isLast ? withEnd(shown) : shown)
  }
  /** The conversation for a deployment, with its own turns in full. */
  const conversationFor = (isHome: (maker: Deployment) => boolean): readonly JsonRecord[] => {
    const last = said.at(-1)
    if (last && conversation.isKept?.(request)) return resultsOf(last, true)
    return [
      ...history,
      ...said.flatMap((one) => [...partOf(one.turn, isHome(one.maker)), ...resultsOf(one, one === last)]),
    ]
  }

  return {
    write(call) {
      const members = fixed()
      const at = (isHome: (maker: Deployment) => boolean): Written =>
        edited(begun, said.length === 0 ? members : { ...members, [member]: conversationFor(isHome) })
      const { request: next, bytes } = at(() => true)
      call.request = next
      call.bytes = bytes
      call.writtenFor = undefined
      if (!said.some(({ turn }) => turn.portable)) return
      const known = new Map<Deployment, Written>()
      call.writtenFor = (deployment) => {
        const isHome = (maker: Deployment) => sameAccount(maker, deployment)
        if (said.every(({ maker }) => isHome(maker))) return call
        const written = known.get(deployment) ?? at(isHome)
        known.set(deployment, written)
        return written
      }
    },
    add: (one) => void said.push(one),
    close() {
      closed = true
    },
    plainer() {
      const hasImages = said.some(({ executions }) => executions.some(({ images }) => images.length > 0))
      if (!isPlain && (hasImages || closed)) {
        isPlain = true
        return true
      }
      const isLong = [...offer.tools.values()].some(({ tool }) => tool.description.length > SHORT)
      if (isShort || !isLong) return false
      isShort = true
      return true
    },
    taken() {
      if (isShort) shortFor.add(group)
    },
    get keeper() {
      const last = said.at(-1)
      return last?.turn.portable ? last.maker : undefined
    },
  }
}

const partOf = ({ said, portable }: ModelTurn, isHome: boolean) => (isHome ? said : (portable ?? said))

function shortened(tool: Tool): Tool {
  const { description } = tool
  return description.length > SHORT ? { ...tool, description: `${description.slice(0, SHORT - 1)}…` } : tool
}

function withoutImages(execution: ToolExecution): ToolExecution {
  if (execution.images.length === 0) return execution
  return { ...execution, images: [], text: `${execution.text}\n[Images cannot be shown to this model.]` }
}

function withEnd(executions: readonly ToolExecution[]): ToolExecution[] {
  return executions.map((one, index) =>
    index === executions.length - 1 ? { ...one, text: `${one.text}\n\n${LAST_CALLS}` } : one,
  )
}
