import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { anthropic } from './anthropic.ts'
import { bedrock } from './bedrock.ts'
import { cohere } from './cohere.ts'
import { gemini } from './gemini.ts'
import { mistral } from './mistral.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'
import { Refusal, type Reply, type StrictVendor } from './vendor.ts'
import { vllm } from './vllm.ts'

interface Place {
  /** `gateway_params.model` of a deployment there. */
  readonly model: string
  /** What follows the vendor's name in its base address. */
  readonly base: string
  /** What it serves, by how the path of the call goes on. */
  readonly serves: readonly (readonly [path: RegExp, vendor: StrictVendor])[]
  readonly more?: string
}

/** The vendors, each below a path of its own name. */
const STRICT_VENDORS = {
  openai: {
    model: 'openai/gpt-5',
    base: '/v1',
    serves: [
      [/^\/v1\/chat\/completions$/, openaiChat],
      [/^\/v1\/responses$/, openaiResponses],
    ],
  },
  anthropic: {
    model: 'anthropic/claude-sonnet-5-5',
    base: '',
    serves: [[/^\/v1\/messages(\/count_tokens)?(\?|$)/, anthropic]],
  },
  gemini: { model: 'gemini/gemini-3-pro', base: '', serves: [[/:(streamG|g)enerateContent|:countTokens/, gemini]] },
  bedrock: {
    model: 'bedrock/us.anthropic.claude-sonnet-5-5',
    base: '',
    serves: [[/\/converse(-stream)?$/, bedrock]],
    more: ', region: us-east-1, aws_access_key_id: AKIDEXAMPLE, aws_secret_access_key: secret',
  },
  cohere: { model: 'cohere/command-a-reasoning-08-2025', base: '', serves: [[/^\/v2\/chat$/, cohere]] },
  mistral: { model: 'mistral/mistral-large-latest', base: '/v1', serves: [[/^\/v1\/chat\/completions$/, mistral]] },
  'openai-compatible': {
    model: 'openai-compatible/qwen-3.5',
    base: '/v1',
    serves: [[/^\/v1\/chat\/completions$/, vllm]],
  },
} as const satisfies Record<string, Place>

export type VendorName = keyof typeof STRICT_VENDORS
export const VENDOR_NAMES = Object.keys(STRICT_VENDORS) as readonly VendorName[]

/** What a vendor was asked, and what it refused. */
export interface Heard {
  readonly vendor: VendorName
  readonly path: string
  readonly body: unknown
  readonly refused: string | undefined
}

export interface StrictVendors {
  readonly url: string
  /** Every call so far, oldest first. */
  readonly heard: readonly Heard[]
  /** Entries of `model_list`: each vendor's deployment under the vendor's name, behind a prefix. */
  models(prefix?: string): string
  close(): Promise<void>
}

/** Starts a server that is every vendor, refuses what each of them refuses, and answers with the model of `agent.ts`. */
export async function startStrictVendors(): Promise<StrictVendors> {
  const heard: Heard[] = []
  const server = createServer((request, response) => {
    serve(request, response, heard).catch((error) => response.destroy(error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    heard,
    models: (prefix = '') =>
      Object.entries<Place>(STRICT_VENDORS)
        .map(([name, { model, base, more = ', api_key: sk-vendor' }]) => {
          const parameters = `model: "${model}", api_base: "${url}/${name}${base}"${more}`
          return `  - model_name: ${prefix}${name}\n    gateway_params: { ${parameters} }\n`
        })
        .join(''),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function serve(request: IncomingMessage, response: ServerResponse, heard: Heard[]): Promise<void> {
  const [, vendor = '', path = ''] = /^\/([^/]+)(\/.*)$/.exec(request.url ?? '') ?? []
  const body = await bodyOf(request)
  const note = (refused?: string) => heard.push({ vendor: vendor as VendorName, path, body, refused })
  try {
    const reply = replyTo(vendor, { path, headers: headersOf(request), body }, heard.length)
    note()
    response.writeHead(200, { 'content-type': reply.contentType })
    for (const piece of reply.pieces) response.write(piece)
    response.end()
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal(500, { error: { message: String(error) } })
    note(refusal.message)
    response.writeHead(refusal.status, { 'content-type': 'application/json', ...refusal.headers })
    response.end(JSON.stringify(refusal.body))
  }
}

function replyTo(name: string, asked: Parameters<StrictVendor>[0], serial: number): Reply {
  const place: Place | undefined = Object.hasOwn(STRICT_VENDORS, name) ? STRICT_VENDORS[name as VendorName] : undefined
  const served = place?.serves.find(([path]) => path.test(asked.path))
  if (!served) throw new Refusal(404, { error: { message: `Nothing is served at ${name} ${asked.path}` } })
  return served[1](asked, serial)
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  const text = Buffer.concat(pieces).toString()
  return text === '' ? undefined : JSON.parse(text)
}

const headersOf = ({ headers }: IncomingMessage) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  )
