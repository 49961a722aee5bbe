import { expect, it } from 'vitest'
import { GatewayError } from '../../src/lib/errors.ts'
import { cerebras } from '../support/strict-vendors/cerebras.ts'
import { cloudflare } from '../support/strict-vendors/cloudflare.ts'
import { deepinfra } from '../support/strict-vendors/deepinfra.ts'
import { deepseek } from '../support/strict-vendors/deepseek.ts'
import { fireworks } from '../support/strict-vendors/fireworks.ts'
import { groq } from '../support/strict-vendors/groq.ts'
import { huggingface } from '../support/strict-vendors/huggingface.ts'
import { lmstudio } from '../support/strict-vendors/lmstudio.ts'
import { mistral } from '../support/strict-vendors/mistral.ts'
import { moonshot } from '../support/strict-vendors/moonshot.ts'
import { nvidia } from '../support/strict-vendors/nvidia.ts'
import { ollama } from '../support/strict-vendors/ollama.ts'
import { openrouter } from '../support/strict-vendors/openrouter.ts'
import { perplexity } from '../support/strict-vendors/perplexity.ts'
import { together } from '../support/strict-vendors/together.ts'
import { Refusal } from '../support/strict-vendors/vendor.ts'
import { vllm } from '../support/strict-vendors/vllm.ts'
import { xai } from '../support/strict-vendors/xai.ts'
import { asked, type Case, type CaseFile, callOf, caseFiles } from '../support/translations.ts'

/** What asks for something that not every vendor has, by the names of the cases: the vendor tells the client so. */
const BEYOND = /how probable the words are|several candidates|a field that nobody knows|video|sound|document/

/** What clients of other dialects send to any provider: the cases of `test/fixtures/translations`. */
const SENT = caseFiles().flatMap(([place, file]) => {
  const isSent = ({ name, says, refuses }: Case) => says === undefined && refuses === undefined && !BEYOND.test(name)
  return place.startsWith('chat-') ? [] : file.cases.filter(isSent).map((one) => [place, file, one] as const)
})

it.each([
  ['cerebras/gpt-oss-120b', cerebras],
  ['cloudflare/@cf/qwen/qwen3-30b', cloudflare],
  ['deepinfra/zai-org/GLM-5', deepinfra],
  ['deepseek/deepseek-v4-flash', deepseek],
  ['fireworks/accounts/fireworks/models/glm-5', fireworks],
  ['groq/openai/gpt-oss-120b', groq],
  ['huggingface/openai/gpt-oss-120b', huggingface],
  ['lmstudio/qwen3', lmstudio],
  ['mistral/mistral-large-latest', mistral],
  ['moonshot/kimi-k2.6', moonshot],
  ['moonshot/kimi-k3', moonshot],
  ['nvidia/qwen/qwen3.5', nvidia],
  ['ollama/gpt-oss', ollama],
  ['openrouter/anthropic/claude-sonnet-5.5', openrouter],
  ['perplexity/anthropic/claude-sonnet-5-5', perplexity],
  ['perplexity/sonar', perplexity],
  ['together/openai/gpt-oss-120b', together],
  ['vllm/qwen3.5', vllm],
  ['xai/grok-4.6', xai],
])('%s takes whatever was translated', async (model, vendor) => {
  const refused: string[] = []
  for (const [place, file, one] of SENT) {
    const body = await translated(place, file, { ...one, model })
    // Some serve the dialect of the client themselves.
    if (body === undefined || (place.startsWith('responses-') && body.messages === undefined)) continue
    const headers = { authorization: 'Bearer sk-vendor' }
    try {
      vendor({ path: '/v1/chat/completions', headers, body }, 1)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refused.push(`${place}, ${one.name}: ${error.message}`)
    }
  }
  expect(refused).toEqual([])
})

type Asked = { readonly messages?: unknown }

/** What the vendor is asked, unless the gateway refuses to. */
async function translated(place: string, file: CaseFile, one: Case): Promise<Asked | undefined> {
  try {
    return (await asked(callOf(place, file, one, false))) as Asked
  } catch (error) {
    if (error instanceof GatewayError) return
    throw error
  }
}
