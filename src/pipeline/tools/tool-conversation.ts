import type { JsonRecord } from '../../lib/json/lenient.ts'
import type { Tool } from '../../mcp/tool-servers.ts'
import type { ModelRequest } from '../../modes/mode.ts'

/** A call of a function that the model asks for. */
export interface AskedCall {
  readonly id: string
  readonly name: string
  /** As the model wrote them, which may be anything. */
  readonly arguments: string
}

/** An image of a tool's result, in base64. */
export interface ToolImage {
  readonly mediaType: string
  readonly data: string
}

/** A call of a managed tool that has ended, as the model and the client see it. */
export interface ToolExecution extends AskedCall {
  /** The turn in which the model asked for it, from 1. */
  readonly turn: number
  readonly server: string
  /** The server's name in the request. */
  readonly label: string
  /** As the server names it. */
  readonly tool: string
  /** The bounded text of the result. */
  readonly text: string
  readonly images: readonly ToolImage[]
  readonly isError: boolean
  readonly ms: number
}

/** What the model answered in one turn. */
export interface ModelTurn {
  readonly calls: readonly AskedCall[]
  /** The answer was cut, so that its calls may be incomplete. */
  readonly cut: boolean
  /** The answer as a part of the conversation. */
  readonly said: readonly JsonRecord[]
  /** The same without what only the provider that made it understands, if there is such. */
  readonly portable?: readonly JsonRecord[]
}

/** One turn of an answer: what the model said, and the calls that were run for it. */
export interface RunTurn {
  readonly document: JsonRecord
  readonly turn: ModelTurn
  readonly executions: readonly ToolExecution[]
}

/** The tools of one server, as the model was offered them. */
export interface ToolList {
  readonly label: string
  readonly tools: readonly Tool[]
}

/** How a conversation with managed tools is written in a dialect. Pure functions. */
export interface ToolConversation {
  /** The member of a request that holds the conversation. */
  readonly member: 'messages' | 'input'
  /** Vendors have tools of their own here that name a server by `server_label` alone. */
  readonly labelled: boolean
  /** The conversation of a request. What earlier answers told of executions becomes calls and their results; `serverOf`
   *  finds the server of a label. */
  history(request: ModelRequest, serverOf: (label: string) => string | undefined): readonly JsonRecord[]
  /** Whether the conversation of a request tells of executions in words that no provider knows. */
  tellsOfCalls?(request: ModelRequest): boolean
  /** The provider keeps the conversation, so that the request of a turn has only its new part. */
  isKept?(request: ModelRequest): boolean
  /** The names under which a model knows a tool of the client's own. */
  namesOf(tool: JsonRecord): readonly string[]
  /** A managed tool as a function. */
  functionOf(tool: Pick<Tool, 'publicName' | 'description' | 'inputSchema'>): JsonRecord
  /** A tool choice that names managed tools in another way than as functions. `offered` returns the public names of the
   *  tools that are offered of a server, or of one of them. */
  choiceOf?(choice: unknown, offered: (label: string, tool?: string) => readonly string[]): unknown
  /** The choice without its force, for turns after calls. */
  unforced(choice: unknown): unknown
  /** Reads an answer. */
  read(answer: JsonRecord, request: ModelRequest): ModelTurn
  /** The results of a turn's calls, in the order of the calls. */
  results(executions: readonly ToolExecution[]): readonly JsonRecord[]
  /** The answer of the last turn, with what was run before, as the client gets it. `request` is the client's own. */
  answer(run: {
    readonly request: ModelRequest
    readonly turns: readonly RunTurn[]
    readonly lists: readonly ToolList[]
    /** Whether a call of the last turn was not run and is not the client's, so that it is left out. */
    readonly isDropped: (call: AskedCall) => boolean
  }): JsonRecord
}
