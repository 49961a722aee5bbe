import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { place } from '../runtimes/node/gateway-process.ts'
import { buildGateway, builtIn } from '../support/build-gateway.ts'
import { configOf } from '../support/gateway.ts'
import { startUpstream } from '../support/scripted-upstream.ts'
import { startStrictVendors } from '../support/strict-vendors/index.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where the gateway is built as it is installed. */
    builtFolder: string
    gatewayUrl: string
    upstreamUrl: string
  }
}

/** One model for each test file, so that the scripts of files never meet. */
const MODELS = [
  'openai-chat',
  'openai-errors',
  'openai-media',
  'openai-responses',
  'azure',
  'elevenlabs',
  'anthropic',
  'ai-sdk',
  'langchain',
  'langchain-responses',
  'cohere',
  'google-genai',
]

/** Models whose vendors are asked in words of their own, by the paths below which the upstream is each of them. */
const VENDORS = {
  gateway: ['elevenlabs/eleven_multilingual_v2', 'elevenlabs/scribe_v1', 'cohere/command-a', 'cohere/embed-v4'],
  'google-genai': ['anthropic/claude-haiku-4-5', 'gemini/gemini-3-flash', 'gemini/gemini-embedding-001'],
}

const settings = `general_settings:
  log_level: warn
router_settings:
  cooldown_time: 0
`

/** Starts the gateway as its users do, from a build, once for all files, with the scripted upstream and the strict vendors behind it. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const upstream = await startUpstream()
  const strict = await startStrictVendors()
  const groups = Object.fromEntries(MODELS.map((name) => [name, [name]]))
  const echo = '  - model_name: echo\n    gateway_params: { model: echo/echo }\n'
  const vendors = Object.entries(VENDORS).flatMap(([path, models]) =>
    models.map(
      (model) =>
        `  - model_name: ${model}\n    gateway_params: { model: ${model}, api_base: ${upstream.url}/${path}, api_key: sk-vendor }\n`,
    ),
  )
  const built = await mkdtemp(join(tmpdir(), 'gateway-clients-'))
  await buildGateway(built)
  const { start, clear } = await place(builtIn(built))
  const gateway = await start({
    yaml: configOf(upstream.url, groups, settings) + echo + vendors.join('') + strict.models('strict-'),
  })
  await gateway.greeted()

  provide('builtFolder', built)
  provide('gatewayUrl', await gateway.base())
  provide('upstreamUrl', upstream.url)
  return async () => {
    await clear()
    await rm(built, { recursive: true })
    await upstream.close()
    await strict.close()
  }
}
